// `node nats-sub.ts PORT SUBJECT [STREAM]`: writes each message as a line, as `nats sub --raw SUBJECT` does; with a
// stream, its stored messages first, as `nats sub --raw --stream STREAM --all SUBJECT` does.
import { natsClient } from './nats-client.ts';

const [port, subject, stream] = process.argv.slice(2);
const client = await natsClient(Number(port));
const write = (payload: string) => process.stdout.write(`${payload}\n`);
if (stream === undefined) client.subscribe(subject!, write);
else {
  const inbox = `_INBOX.deliver.${process.pid}`;
  client.subscribe(inbox, write);
  const config = { deliver_subject: inbox, deliver_policy: 'all', ack_policy: 'none', filter_subject: subject };
  await client.request(`$JS.API.CONSUMER.CREATE.${stream}`, { stream_name: stream, config });
}
await client.flush();
process.stderr.write('subscribed\n');
