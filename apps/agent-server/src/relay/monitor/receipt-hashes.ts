import { HEX_OF_32_BYTES } from "@agent/crypto";
import { readFileIfPresent } from "@agent/crypto/private-file";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { createPrivateFolder } from "../../files/private-file.ts";
import type { Runtime } from "../../runtime.ts";

/** The hashes of the receipts that this agent signed, in this run and in earlier ones. */
export interface ReceiptHashes {
  /** Contains each hash from the time at which it is recorded. */
  readonly hashes: ReadonlySet<string>;
  /**
   * Adds the hash of a receipt; it is on disk when this resolves. A disk that accepts no writes is
   * logged and does not hold the receipt back; the hash is then written with the next one, because the monitor of
   * a later run would report its receipt as unknown.
   */
  readonly record: (receiptHash: string) => Promise<void>;
}

/** Opens the file with one hash a line, which `agent-monitor --known` reads as well. */
export async function openReceiptHashes(
  path: string,
  runtime: Pick<Runtime, "log">,
): Promise<ReceiptHashes> {
  const text = await readSigned(path, runtime);
  const hashes = new Set(text.split("\n").filter((line) => HEX_OF_32_BYTES.test(line)));
  // A crash may have cut off the last line.
  let endsInLine = text === "" || text.endsWith("\n");
  /** The hashes that no write has stored so far. */
  let unwritten: readonly string[] = [];
  let writing: Promise<void> = Promise.resolve();
  let waiting: { readonly lines: string[]; readonly written: Promise<void> } | undefined;

  async function append(lines: readonly string[]): Promise<void> {
    unwritten = [...unwritten, ...lines];
    const begin = endsInLine ? "" : "\n";
    endsInLine = false;
    await createPrivateFolder(dirname(path));
    const file = await open(path, "a", 0o600);
    try {
      await file.writeFile(`${begin}${unwritten.join("\n")}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
    endsInLine = true;
    unwritten = [];
  }

  /** Hashes that arrive during one write share the next one. */
  function enqueue(hash: string): Promise<void> {
    if (waiting === undefined) {
      const lines: string[] = [];
      const written = writing.then(() => {
        waiting = undefined;
        return append(lines);
      });
      writing = written.catch(() => {});
      waiting = { lines, written };
    }
    waiting.lines.push(hash);
    return waiting.written;
  }

  return {
    hashes,
    async record(receiptHash) {
      hashes.add(receiptHash);
      try {
        await enqueue(receiptHash);
      } catch (cause) {
        runtime.log("error", "signed_log.not_written", { cause: String(cause) });
      }
    },
  };
}

async function readSigned(path: string, { log }: Pick<Runtime, "log">): Promise<string> {
  try {
    return (await readFileIfPresent(path)) ?? "";
  } catch (cause) {
    log("error", "signed_log.unreadable", { cause: String(cause) });
    return "";
  }
}
