export const shells = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof shells)[number];

/**
 * The output of `qm completion SHELL`. The scripts run `qm __complete` at every TAB, so they stay correct when commands
 * and configuration change. Its output may contain any text from a server, so the scripts read it as lines, never
 * evaluate it, and quote it unless the shell does so itself.
 */
export function completionScript(shell: Shell): string {
  return { bash, zsh, fish }[shell];
}

/** The raw text, with `\${` unescaped. */
function script(text: TemplateStringsArray): string {
  return text.raw.join('').replaceAll('\\${', '${');
}

const bash = script`# Completion of qm in bash. In ~/.bashrc:  source <(qm completion bash)

# The word without its quotes, in $plain.
_qm_plain() {
  case $1 in
    \"*\" | \'*\') if [ \${#1} -gt 1 ]; then plain=\${1:1:\${#1}-2}; else plain=; fi ;;
    \"* | \'*) plain=\${1#?} ;;
    *) IFS= read plain <<< "$1" ;;
  esac
}

_qm() {
  local line=\${COMP_LINE:0:COMP_POINT} words=() count=0 args=() index word blank plain
  # Bash cuts words at = and : as well; what stands without a blank between is one word again.
  for ((index = 0; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]} blank=\${line%%[![:space:]]*}
    line=\${line:\${#blank}}
    line=\${line#"$word"}
    if ((count > 0)) && [ -z "$blank" ]; then words[count-1]+=$word; else words[count++]=$word; fi
  done
  blank=\${line%%[![:space:]]*}
  local current=\${line:\${#blank}} open=
  if ((count > 1)) && [ -z "$blank" ]; then current=\${words[--count]}$current; fi
  for ((index = 1; index < count; index++)); do
    _qm_plain "\${words[index]}"
    args+=("$plain")
  done
  _qm_plain "$current"
  case $current in \"* | \'*) open=yes ;; esac

  # The part that bash keeps as it is, because it cuts behind it.
  local kept= kind value quoted
  case $COMP_WORDBREAKS in *=*) case $current in *=*) kept=\${current%"\${current##*=}"} ;; esac ;; esac
  case $COMP_WORDBREAKS in
    *:*) case \${current#"$kept"} in *:*) kept=\${current%"\${current##*:}"} ;; esac ;;
  esac

  COMPREPLY=()
  {
    read -r kind
    while IFS=$'\t' read -r value _; do
      if [ -n "$open" ]; then
        # Inside a quote that somebody opened, only what means the same there.
        case $value in *[!A-Za-z0-9._:/=@%+,-]*) continue ;; esac
        quoted=$value
      else
        printf -v quoted %q "$value"
        case $quoted in "$kept"*) quoted=\${quoted#"$kept"} ;; *) continue ;; esac
      fi
      COMPREPLY+=("$quoted")
    done
  } < <(command qm __complete -- "\${args[@]}" "$plain" 2> /dev/null)
  case $kind in
    files) compopt -o default 2> /dev/null ;;
    folders) compopt -o dirnames 2> /dev/null ;;
  esac
  return 0
}

complete -F _qm qm quartermaster`;

const zsh = script`#compdef qm quartermaster
# Completion of qm in zsh. In ~/.zshrc, after compinit:  source <(qm completion zsh)

_qm() {
  local -a args lines values shown
  local line value
  args=("\${(@Q)words[2,CURRENT-1]}")
  lines=("\${(@f)$(command qm __complete -- "\${args[@]}" "\${(Q)PREFIX}" 2> /dev/null)}")
  case $lines[1] in
    files) _files; return ;;
    folders) _files -/; return ;;
  esac
  for line in "\${(@)lines[2,-1]}"; do
    value=\${line%%$'\t'*}
    [[ -n $value ]] || continue
    values+=("$value")
    shown+=("$value  \${line#*$'\t'}")
  done
  # It quotes what it inserts.
  (( $#values )) && compadd -l -d shown -- "\${values[@]}"
}

if [[ $funcstack[1] == _qm ]]; then _qm "$@"; else compdef _qm qm quartermaster; fi`;

const fish = script`# Completion of qm in fish. Once:  qm completion fish > ~/.config/fish/completions/qm.fish

function __qm_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l plain (string unescape -- "$current" 2> /dev/null; or printf '%s' "$current")
    set -l lines (command qm __complete -- $words "$plain" 2> /dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case folders
            __fish_complete_directories "$current"
        case '*'
            set -e lines[1]
            # fish quotes what it inserts.
            test (count $lines) -gt 0; and printf '%s\n' $lines
    end
end

complete -c qm -f -a '(__qm_complete)'
complete -c quartermaster -f -a '(__qm_complete)'`;
