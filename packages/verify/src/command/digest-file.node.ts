import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { FileDigest } from "../result-file.ts";

/** Hashes a file in chunks, because it may not fit into memory. */
export async function digestFile(path: string): Promise<FileDigest> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of createReadStream(path)) {
    const data = piece as Buffer;
    hash.update(data);
    bytes += data.length;
  }
  return { sha256: hash.digest("hex"), bytes };
}
