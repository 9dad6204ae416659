# Completion of Heddle's tools in bash. The options come from the tool's --help, so they can't be
# out of date; they are cached for as long as the shell runs.
declare -gA _heddle_options

_heddle_complete() {
  local tool=$1 word=$2 previous=$3 help stages="nd nest kernels loops llvm asm program"
  COMPREPLY=()
  if [[ $word == = ]]; then word=""; elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
  if [[ $previous == --emit ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$stages" -- "$word")
    return
  fi
  if [[ $word == -* ]]; then
    if [[ -z ${_heddle_options[$tool]+known} ]]; then
      help=$("$tool" --help 2>/dev/null)
      _heddle_options[$tool]=$(sed -nE 's/^ +(-[^] =<[]*).*/\1/p' <<<"$help" | tr , '\n' | sort -u)
    fi
    mapfile -t COMPREPLY < <(compgen -W "${_heddle_options[$tool]}" -- "$word")
    return
  fi
  compopt -o filenames 2>/dev/null
  case $previous in
    --dump-dir | --cache-dir) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    --plugin | --load-pass-plugin | --load-dialect-plugin) mapfile -t COMPREPLY < <(compgen -d -- "$word"; compgen -f -X '!*.so' -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}

complete -F _heddle_complete heddle-opt heddle-run heddlec heddle-reduce heddle-translate heddle-lsp-server heddle-launch heddle-probe heddle-models
