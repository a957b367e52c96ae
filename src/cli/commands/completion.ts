/** `everytick completion`: writes completion scripts for three shells, generated from the command definitions. */
import type { Command } from 'commander'

export type Shell = 'bash' | 'zsh' | 'fish'

/** One position in a line: the commands and options that may follow these words. */
export interface Place {
  readonly path: readonly string[]
  readonly commands: readonly Word[]
  readonly options: readonly (Word & { readonly takesValue: boolean; readonly choices: readonly string[] })[]
  /** The allowed values of its first argument, if they are limited. */
  readonly choices: readonly string[]
}

interface Word {
  readonly name: string
  readonly about: string
}

/** Every command with its parents, the program itself first. */
export function placesOf(program: Command, path: readonly string[] = []): Place[] {
  const commands = program.commands.filter((command) => command.name() !== 'help')
  // Without a subcommand a group runs `ls`, so the options of `ls` may follow the group itself.
  const silent = commands.find((command) => command.name() === 'ls')
  const options = [...program.options, ...(silent?.options ?? [])].filter(({ long }) => long !== undefined)
  const place: Place = {
    path,
    commands: commands.map((command) => ({ name: command.name(), about: command.description() })),
    options: options.map((option) => ({
      ...{ name: option.long!, about: option.description, takesValue: option.required },
      choices: option.argChoices ?? [],
    })),
    choices: program.registeredArguments[0]?.argChoices ?? [],
  }
  return [place, ...commands.flatMap((command) => placesOf(command, [...path, command.name()]))]
}

export const completion = (program: Command, shell: Shell): string => WRITERS[shell](placesOf(program))

const WRITERS: Readonly<Record<Shell, (places: readonly Place[]) => string>> = { bash, zsh, fish }

const wordsAt = ({ commands, choices, options }: Place): string =>
  [...commands.map(({ name }) => name), ...choices, ...options.map(({ name }) => name), '--help'].join(' ')
const keyOf = ({ path }: Place): string => path.join(' ')

/** Options that take a value, with the allowed values. */
function valuesOf(places: readonly Place[]): readonly (readonly [option: string, choices: string])[] {
  const found = new Map<string, Set<string>>()
  for (const { options } of places)
    for (const { name, takesValue, choices } of options)
      if (takesValue) found.set(name, new Set([...(found.get(name) ?? []), ...choices]))
  return [...found].map(([name, choices]) => [name, [...choices].join(' ')] as const)
}

/** Walks the command tree along the words so far, skipping options and their values. Uses only bash 3.2 syntax, for macOS. */
function bash(places: readonly Place[]): string {
  return `# everytick: completion for bash. Put it to use with: source <(everytick completion bash)
_everytick_words() {
  case "$1" in
${places.map((place) => `    '${keyOf(place)}') echo '${wordsAt(place)}' ;;`).join('\n')}
    *) return 1 ;;
  esac
}
_everytick_values() {
  case "$1" in
${valuesOf(places)
  .map(([option, choices]) => `    ${option}) echo '${choices}' ;;`)
  .join('\n')}
    *) return 1 ;;
  esac
}
_everytick() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" place='' word values i
  COMPREPLY=()
  if values="$(_everytick_values "$previous")"; then
    if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$current")); fi
    return 0
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if _everytick_values "$word" > /dev/null; then i=$((i + 1)); continue; fi
    case "$word" in -*) continue ;; esac
    if _everytick_words "\${place:+$place }$word" > /dev/null; then place="\${place:+$place }$word"; fi
  done
  COMPREPLY=($(compgen -W "$(_everytick_words "$place")" -- "$current"))
}
complete -o default -F _everytick everytick
`
}

/** The same walk in zsh. */
function zsh(places: readonly Place[]): string {
  return `#compdef everytick
# everytick: completion for zsh. Put it to use with: source <(everytick completion zsh)
_everytick() {
  local place='' word i
  local -A values
  values=(${valuesOf(places)
    .map(([option, choices]) => `${option} '${choices}'`)
    .join(' ')})
  local -A follow
  follow=(
${places.map((place) => `    ${zshKey(place)} '${wordsAt(place)}'`).join('\n')}
  )
  if (( \${+values[\${words[CURRENT-1]}]} )); then
    if [[ -n "\${values[\${words[CURRENT-1]}]}" ]]; then compadd -- \${=values[\${words[CURRENT-1]}]}; else _files; fi
    return
  fi
  for (( i = 2; i < CURRENT; i++ )); do
    word="\${words[i]}"
    if (( \${+values[$word]} )); then (( i++ )); continue; fi
    [[ "$word" == -* ]] && continue
    (( \${+follow[everytick\${place} $word]} )) && place="\${place} $word"
  done
  compadd -- \${=follow[everytick\${place}]}
}
compdef _everytick everytick
`
}

const zshKey = ({ path }: Place): string => `'${['everytick', ...path].join(' ')}'`

function fish(places: readonly Place[]): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = places.flatMap((place) => {
    const path = place.path.join(' ')
    const when = quoted(`__everytick_is ${path}`.trimEnd())
    // A command takes options after its arguments; a group takes none after a subcommand.
    const within = place.commands.length > 0 ? when : quoted(`__everytick_in ${path}`)
    return [
      ...place.commands.map(({ name, about }) => `complete -c everytick -f -n ${when} -a ${name} -d ${quoted(about)}`),
      ...place.choices.map((choice) => `complete -c everytick -f -n ${when} -a ${choice}`),
      ...place.options.map(({ name, about, takesValue, choices }) => {
        const values = takesValue ? (choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : ' -r') : ''
        return `complete -c everytick -n ${within} -l ${name.slice(2)}${values} -d ${quoted(about)}`
      }),
    ]
  })
  return `# everytick: completion for fish. Put it to use with: everytick completion fish | source
function __everytick_given
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; or echo $word
  end
end
function __everytick_is
  test "$argv" = (string join ' ' (__everytick_given)); or test -z "$argv" -a (count (__everytick_given)) -eq 0
end
function __everytick_in
  string match -q -- "$argv *" (string join ' ' (__everytick_given))' '
end
${lines.join('\n')}
`
}
