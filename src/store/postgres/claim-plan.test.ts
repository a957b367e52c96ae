/** How the plan of a claim is read: which of its looks go by the index of due runs. */
import { expect, it } from 'vitest'
import { readPlan } from './claim-plan.ts'

const look = (about: object) => ({ 'Relation Name': 'runs', Alias: 'p', ...about }) as Parameters<typeof readPlan>[0]
const whole = (...Plans: Parameters<typeof readPlan>[0][]) => ({ 'Node Type': 'Nested Loop', Plans })

it.each([
  ['by the index', whole(look({ 'Node Type': 'Index Scan', 'Index Name': 'runs_pending' })), 'index'],
  [
    'by a bitmap of the index',
    whole(
      look({
        'Node Type': 'Bitmap Heap Scan',
        Plans: [{ 'Node Type': 'Bitmap Index Scan', 'Index Name': 'runs_pending' }],
      }),
    ),
    'index',
  ],
  ['through the table', whole(look({ 'Node Type': 'Seq Scan' })), 'scan'],
  ['by another index', whole(look({ 'Node Type': 'Index Scan', 'Index Name': 'runs_fair' })), 'scan'],
  ['nowhere', whole(), null],
] as const)('a claim that looks %s is told as such', (_, plan, told) => {
  expect(readPlan(plan)).toBe(told)
})
