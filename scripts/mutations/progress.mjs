/** Shows how far a mutation run is: a bar on a terminal, a line for each mutant elsewhere. */
const WIDTH = 30

export function openProgress(count, print, terminal = process.stderr) {
  const began = Date.now()
  const survivors = []
  let done = 0
  const draw = () => {
    if (!terminal.isTTY) return
    const full = Math.round((WIDTH * done) / count)
    const leftMs = done > 0 ? ((Date.now() - began) / done) * (count - done) : 0
    const left = done > 0 ? `, about ${Math.ceil(leftMs / 60_000)} min left` : ''
    const bar = `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}]`
    terminal.write(`\r\x1b[K${bar} ${done} of ${count}, ${survivors.length} not caught${left}`)
  }
  const clear = () => terminal.isTTY && terminal.write('\r\x1b[K')
  const line = (text) => {
    clear()
    print(text)
    draw()
  }
  draw()
  return {
    note(text) {
      if (!terminal.isTTY) line(text)
    },
    add({ name, verdict, by }) {
      done += 1
      if (verdict !== 'caught') survivors.push(name)
      const more = by.length > 1 ? ` and ${by.length - 1} more` : ''
      const first = verdict === 'caught' && by.length > 0 ? ` by "${by[0]}"${more}` : ''
      if (!terminal.isTTY || verdict !== 'caught') line(`${done}/${count} ${verdict} ${name}${first}`)
      else draw()
    },
    end: clear,
  }
}
