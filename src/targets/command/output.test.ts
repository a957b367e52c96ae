import { describe, expect, it } from 'vitest'
import { createOutput, type Stream } from './output.ts'

function printed(chunks: readonly (string | Buffer | [Stream, string])[], maxBytes = 128 * 1024) {
  const lines: string[] = []
  const output = createOutput({ maxBytes, say: (stream, line) => lines.push(stream === 'stdout' ? line : `! ${line}`) })
  for (const chunk of chunks) {
    if (Array.isArray(chunk)) output.push(chunk[0], Buffer.from(chunk[1]))
    else output.push('stdout', Buffer.from(chunk as string))
  }
  output.end()
  return { lines, tail: output.tail('stdout'), errorTail: output.tail('stderr') }
}

describe('what a process prints', () => {
  it.each([
    ['whole lines', ['a\nb\n'], ['a', 'b']],
    ['a last line without an end', ['a\nb'], ['a', 'b']],
    ['lines in pieces', ['a', 'b\nc', 'd\n'], ['ab', 'cd']],
    ['a character in pieces', [Buffer.from([0xc3]), Buffer.from([0xa4, 0x0a])], ['ä']],
    ['ends of lines as on Windows', ['a\r\nb\r\n'], ['a', 'b']],
    ['a progress bar', ['10%\r20%\r100%\n'], ['100%']],
    ['colours', ['\u001b[31mred\u001b[0m \u001b]0;title\u0007x\n'], ['red x']],
    ['control characters', ['a\0b\u0007c\td\n'], ['a\\x00b\\x07c\td']],
    ['bytes that are no text', [Buffer.from([0xff, 0xfe, 0x41, 0x0a])], ['\ufffd\ufffdA']],
    ['empty lines', ['a\n\n\nb\n'], ['a', 'b']],
    ['both streams', [['stdout', 'a'] as [Stream, string], ['stderr', 'b\n'] as [Stream, string]], ['! b', 'a']],
    ['nothing', [], []],
  ])('becomes lines: %s', (_, chunks, expected) => {
    expect(printed(chunks).lines).toEqual(expected)
  })

  it('cuts a line that is too long, and says so', () => {
    const { lines } = printed(['x'.repeat(10_000), `${'y'.repeat(10_000)}\nnext\n`])
    expect(lines).toEqual([`${'x'.repeat(4096)}…`, 'next'])
  })

  it('is said up to its bound, with the count of the rest and without a gap inside', () => {
    const { lines, tail } = printed(['12345\n', '1234567890\n', 'ab\n', 'last\n'], 10)
    expect(lines).toEqual(['12345', '! 19 more bytes of output were left out'])
    expect(tail).toBe('12345\n1234567890\nab\nlast')
  })

  it('is said up to a number of lines, however short they are', () => {
    const { lines } = printed([Buffer.from('\nx'.repeat(5000))])
    expect(lines).toHaveLength(1901)
    expect(lines.at(-1)).toMatch(/^! \d+ more bytes/)
  })

  it('leaves its end, in whole lines', () => {
    const { tail, errorTail } = printed([
      ...Array.from({ length: 1000 }, (_, i) => `line ${i}\n`),
      ['stderr', 'bad\n\u001b[1mworse\n'] as [Stream, string],
    ])
    expect(tail.length).toBeLessThanOrEqual(3584)
    expect(tail).toMatch(/^line \d+\n[\s\S]*\nline 999$/)
    expect(errorTail).toBe('bad\nworse')
  })

  it.each([
    ['bytes that are no text', Buffer.alloc(100_000, 0xff)],
    ['control characters', Buffer.alloc(100_000, 0x01)],
    ['what JSON escapes', Buffer.alloc(100_000, '"\\\t')],
    ['long characters', Buffer.from('€😀'.repeat(10_000))],
  ])('leaves an end that fits twice into what is stored of an error: %s', (_, chunk) => {
    const { tail } = printed([chunk])
    expect(Buffer.byteLength(JSON.stringify([tail, tail]))).toBeLessThan(16_000)
    expect(tail.length).toBeGreaterThan(500)
  })
})
