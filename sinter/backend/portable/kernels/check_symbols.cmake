# SPDX-License-Identifier: MIT OR Apache-2.0
# cmake -DNM=<nm> -DISA=<name> -DOBJECTS=<files> -P check_symbols.cmake
# Every symbol that the objects of one instruction set share with the linker must carry the set's name: an inline function
# without it could be merged with the copy of another set, and then run on a processor that lacks the instructions.
string(LENGTH "portable" length)
string(LENGTH "${ISA}" isa_length)
set(ours "${length}portable${isa_length}${ISA}")
set(problems "")
foreach(object ${OBJECTS})
  execute_process(COMMAND "${NM}" "${object}" OUTPUT_VARIABLE text RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${NM} can't read ${object}")
  endif()
  string(REGEX MATCHALL "[0-9a-f]+ [A-TV-Zuvw] [^\n]+" symbols "${text}")
  foreach(symbol ${symbols})
    if(NOT symbol MATCHES "${ours}")
      string(APPEND problems "${object}: ${symbol}\n")
    endif()
  endforeach()
endforeach()
if(problems)
  message(FATAL_ERROR "symbols outside the namespace of `${ISA}`:\n${problems}")
endif()
