import { commands } from "../../src/database-commands.ts";
import { toEnginePlace } from "./database-of-path.ts";
import { engine } from "./engine.ts";
import { copyStored, removeStored } from "./stored.ts";

function runCommand(name: string, file: string, path: string, now: number): Promise<void> {
  const randomBytes = (length: number) => new Uint8Array(length);
  return runStoredCommand(name, path, { now, randomBytes, words: [file] });
}

/** Runs a command of the relay on the database of a path. */
export async function runStoredCommand(
  name: string,
  path: string,
  {
    now,
    randomBytes,
    words = [],
  }: {
    readonly now: number;
    readonly randomBytes: (length: number) => Uint8Array;
    readonly words?: readonly string[];
  },
): Promise<void> {
  const command = commands[name];
  if (command === undefined) throw new Error(`there is no command ${name}`);
  const call = { arguments: words, status: false, now, randomBytes, ...toEnginePlace(path) };
  const { ok, text } = await command.run(call);
  if (!ok) throw new Error(text);
}

/** Writes a backup of the database of a path, even while a relay uses it. */
export async function backUpStored(path: string, backup: string): Promise<void> {
  if (engine === "postgres") return copyStored(path, backup);
  await runCommand("backup", backup, path, 0);
}

/** Replaces the database of a stopped relay with a backup, as its operator does on each engine. */
export async function restoreStored(path: string, backup: string, now: number): Promise<void> {
  await removeStored(path);
  if (engine === "sqlite") return runCommand("restore", backup, path, now);
  await copyStored(backup, path);
  await runCommand("restored", "", path, now);
}
