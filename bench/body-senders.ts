import { shapeNamed } from './body-shapes.ts';

// Sends a shape without pause, once for each session, until a message stops it; reports the number of answers.

const [url, ...sessions] = process.argv.slice(2);
let shape: string | null = null;
let answers = 0;
let pressed: Promise<unknown> = Promise.resolve();

async function press(name: string, session: string): Promise<void> {
  const { send } = shapeNamed(name, url!, session);
  while (shape !== null) {
    await send();
    answers += 1;
  }
}

process.on('message', async (command: { press: string | null }) => {
  shape = command.press;
  if (shape === null) await pressed;
  else pressed = Promise.all(sessions.map((session) => press(shape!, session)));
  process.send!(answers);
  if (shape === null) answers = 0;
});
