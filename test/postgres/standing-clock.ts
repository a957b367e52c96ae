/** Turns the clock of a database into one that stands still until it is moved; it lies outside of the store's own schema. */
import type pg from 'pg'

const STOP = `
  create table public.test_clock as select everytick.now_at() as at;
  create or replace function everytick.now_at() returns timestamptz language sql volatile parallel safe
  as $$ select at from public.test_clock $$`
const MOVE = 'update public.test_clock set at = to_timestamp($1::float8 / 1000)'

/** Answers what moves it. */
export async function standingClock(admin: pg.Client, startAt: number): Promise<(at: number) => Promise<void>> {
  const moved = async (at: number): Promise<void> => {
    await admin.query(MOVE, [at])
  }
  await admin.query(STOP)
  await moved(startAt)
  return moved
}
