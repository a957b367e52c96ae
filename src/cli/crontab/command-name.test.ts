import { expect, it } from 'vitest'
import { commandName } from './command-name.ts'

it.each([
  ['/usr/local/bin/backup.sh', 'backup'],
  ['/usr/local/bin/backup.sh --all > /dev/null 2>&1', 'backup'],
  ['cd /srv/app && php artisan schedule:run >> /dev/null 2>&1', 'artisan-schedule-run'],
  ['test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }', 'cron.daily'],
  ['[ -x /usr/lib/php/sessionclean ] && if [ ! -d /run ]; then /usr/lib/php/sessionclean; fi', 'sessionclean'],
  ['flock -n /tmp/x.lock nice -n 19 /opt/report', 'report'],
  ['FOO=1 BAR="a b" ./run-me', 'run-me'],
  ['sudo -u www-data python3 -m app.tasks.mail', 'app.tasks.mail'],
  ['certbot renew --quiet', 'certbot-renew'],
  ['curl -fsS https://example.com/ping', 'curl'],
  ['node /srv/jobs/send-mail.mjs', 'send-mail'],
  ['>/dev/null', 'job'],
  ['"', 'job'],
  ['Ünïcode', 'n-code'],
  ['$(which thing) --go', 'which-thing'],
])('calls %s %s', (command, name) => {
  expect(commandName(command)).toBe(name)
})

it('has an end for the longest command', () => {
  expect(commandName('x'.repeat(1_000_000)).length).toBeLessThanOrEqual(60)
})
