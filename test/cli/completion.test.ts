/** `everytick completion`: the script for bash is run by bash itself; those for zsh and fish are held to the same tree of commands. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { placesOf } from '../../src/cli/commands/completion.ts'
import { createProgram } from '../../src/cli/program.ts'
import { type Ending, ensureBuilt, runNode } from '../built-package.ts'

const folder = mkdtempSync(join(tmpdir(), 'everytick-completion-'))
const script = join(folder, 'everytick.bash')
const completion = (shell: string): Ending => runNode('dist/cli/main.js', 'completion', shell)

beforeAll(() => {
  ensureBuilt()
  writeFileSync(script, completion('bash').out)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What bash offers after this line, whose last word is under the cursor. */
function offered(line: string): string[] {
  const words = line.split(' ')
  const code = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _everytick; printf '%s\\n' "\${COMPREPLY[@]}"`
  const out = execFileSync('bash', ['--norc', '-c', code, 'bash', script, ...words], { encoding: 'utf8' })
  return out.split('\n').filter(Boolean)
}

describe('completion in bash', () => {
  it('is a script that bash can read, and registers itself', () => {
    execFileSync('bash', ['-n', script])
    const code = 'source "$1"; complete -p everytick'
    expect(execFileSync('bash', ['--norc', '-c', code, 'bash', script], { encoding: 'utf8' })).toContain('_everytick')
  })

  it.each([
    ['everytick ', ['next', 'explain', 'queues', 'completion', '--version']],
    ['everytick qu', ['queues']],
    ['everytick queues ', ['ls', 'pause', 'resume', 'limit', '--db']],
    ['everytick queues pause --d', ['--db', '--dry-run']],
    ['everytick queues --db sqlite:a.db pau', ['pause']],
    ['everytick next --gap ', ['shift', 'skip']],
    ['everytick completion f', ['fish']],
    ['everytick alerts --state re', ['resolved']],
  ])('offers after "%s" what the commands say', (line, words) => {
    expect(offered(line)).toEqual(expect.arrayContaining(words))
  })

  it('completes what is typed at a prompt', async () => {
    const shell = spawn('script', ['-qec', 'bash --norc --noprofile -i', '/dev/null'])
    let shown = ''
    shell.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text))
    shell.stdin.write(`source ${script}; everytick() { echo "called with: $*"; }\n`)
    shell.stdin.write('everytick queu\tpau\tmail --dry\t\nexit\n')
    await expect.poll(() => shown, { timeout: 20_000 }).toContain('called with: queues pause mail --dry-run')
    shell.kill()
  })

  it('leaves values it cannot know to the shell', () => {
    expect(offered('everytick next --tz ')).toEqual([])
  })
})

describe('completion in other shells', () => {
  it.each(['zsh', 'fish'] as const)('names every command and every option in %s', (shell) => {
    const { code, out } = completion(shell)
    expect(code).toBe(0)
    for (const { commands, options } of placesOf(createProgram(() => {}))) {
      for (const { name } of commands) expect(out).toContain(name)
      for (const { name } of options) expect(out).toContain(shell === 'fish' ? ` -l ${name.slice(2)}` : name)
    }
  })

  it('refuses a shell it does not know with exit 2', () => {
    const { code, err } = completion('powershell')
    expect(code).toBe(2)
    expect(err).toContain('bash, zsh, fish')
  })
})
