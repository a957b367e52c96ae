/** Describes what keeps a process alive, from Node's resource names; pure. */

/** Display names for the names of `process.getActiveResourcesInfo()`; other names appear unchanged. */
const WORDS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  Timeout: ['timer', 'timers'],
  Immediate: ['immediate', 'immediates'],
  TCPSocketWrap: ['TCP connection', 'TCP connections'],
  TCPServerWrap: ['TCP server', 'TCP servers'],
  TLSWrap: ['TLS connection', 'TLS connections'],
  PipeWrap: ['pipe', 'pipes'],
  PipeServerWrap: ['pipe server', 'pipe servers'],
  UDPWrap: ['UDP socket', 'UDP sockets'],
  TTYWrap: ['terminal', 'terminals'],
  ProcessWrap: ['child process', 'child processes'],
  Worker: ['worker thread', 'worker threads'],
  MessagePort: ['message port', 'message ports'],
  FSEventWrap: ['file watcher', 'file watchers'],
  StatWatcher: ['file watcher', 'file watchers'],
  FSReqCallback: ['file operation', 'file operations'],
  FSReqPromise: ['file operation', 'file operations'],
  GetAddrInfoReqWrap: ['DNS lookup', 'DNS lookups'],
  TCPConnectWrap: ['TCP connection being made', 'TCP connections being made'],
}

/** Such as `1 timer, 2 TCP connections`; `atStart` lists resources open before user code ran, which do not count. */
export function openResourcesText(names: readonly string[], atStart: readonly string[]): string {
  const counts = new Map<string, number>()
  const add = (name: string, change: number): void => void counts.set(name, (counts.get(name) ?? 0) + change)
  for (const name of names) add(name, 1)
  for (const name of atStart) add(name, -1)
  const parts = [...counts].flatMap(([name, count]) => (count > 0 ? [amount(name, count)] : []))
  return parts.join(', ') || 'a resource that Node does not name'
}

function amount(name: string, count: number): string {
  const [one, many] = WORDS[name] ?? [name, name]
  return `${count} ${count === 1 ? one : many}`
}
