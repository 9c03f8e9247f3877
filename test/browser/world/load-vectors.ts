import { readFileSync } from "node:fs";

/** A line of a file of vectors; which members it has depends on the file. */
export type Vector = { readonly [member: string]: string } & { readonly now?: number };

/** Loads the vectors of this project, such as `receipts`. */
export function loadVectors(name: string): Vector[] {
  const file = new URL(`../../../vectors/own/${name}.jsonl`, import.meta.url);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Vector);
}
