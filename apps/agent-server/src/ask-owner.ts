import { createInterface } from "node:readline";

/** Where the owner reads questions and types answers. */
interface OwnerStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Asks the owner; anything but a yes, the end of the input included, is a no. */
export async function askOwner(question: string, streams: OwnerStreams): Promise<boolean> {
  const terminal = createInterface(streams);
  const answer = await new Promise<string>((resolve) => {
    terminal.once("close", () => resolve(""));
    terminal.question(`${question} [y/N] `, resolve);
  });
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
