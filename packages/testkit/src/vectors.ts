import { readFileSync } from "node:fs";

/** A receipt as raw JSON text with the verifier's context and the expected verdict. */
export interface ReceiptVector {
  readonly id: number;
  readonly cls: string;
  /** `should` marks this project's choice where the specification makes no statement. */
  readonly level: "must" | "should";
  readonly receipt: string;
  /** The agent's known key, 64 hex digits. */
  readonly key: string;
  readonly task: string;
  readonly expect: "valid" | "invalid";
  readonly nested?: readonly ("valid" | "invalid")[];
  readonly why: string;
}

/** A text that must be accepted as JSON, must be refused, or may be either. */
export interface JsonVector {
  readonly name: string;
  readonly expect: "accept" | "reject" | "any";
  readonly bytes: Uint8Array;
}

/** Values to put where others are expected, and whole bodies. */
export interface HostileVectors {
  /** Texts in JSON, or almost in JSON. */
  readonly values: readonly string[];
  readonly bodies: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  /** Very deep, wide and long JSON texts, created one at a time because each takes megabytes. */
  readonly giants: () => Iterable<string>;
}

export function loadReceiptVectors(): readonly ReceiptVector[] {
  return loadLines("own/receipts.jsonl");
}

interface JsonLine extends Omit<JsonVector, "expect" | "bytes"> {
  readonly expect?: JsonVector["expect"];
  readonly text?: string;
  readonly base64?: string;
  readonly repeat?: readonly [string, number];
}

/** Loads the cases of nst/JSONTestSuite. */
export function loadJsonVectors(): readonly JsonVector[] {
  return loadLines<JsonLine>("json/nst.jsonl").map(({ name, expect, text, base64, repeat }) => {
    const [part, times] = repeat ?? ["", 0];
    const bytes =
      base64 === undefined
        ? Buffer.from(text ?? part.repeat(times))
        : Buffer.from(base64, "base64");
    // The two cases without a verdict are unclosed arrays.
    return { name, expect: expect ?? "reject", bytes };
  });
}

interface GiantTemplate {
  readonly open: string;
  readonly n: number;
  readonly close: string;
  readonly mid?: string;
  readonly mid_repeat?: readonly [string, number];
  readonly mid_tail?: string;
  readonly mid_keys?: number;
}

interface HostileFile {
  readonly values: readonly string[];
  readonly gens: readonly GiantTemplate[];
  readonly raw: readonly { readonly name: string; readonly base64: string }[];
}

export function loadHostileVectors(): HostileVectors {
  const { values, gens, raw } = JSON.parse(loadVector("own/hostile.json")) as HostileFile;
  return {
    values,
    bodies: raw.map(({ name, base64 }) => ({ name, bytes: Buffer.from(base64, "base64") })),
    *giants() {
      for (const giant of gens) yield expandGiant(giant);
    },
  };
}

function expandGiant(giant: GiantTemplate): string {
  const { open, n, close, mid = "", mid_repeat: [part, times] = ["", 0] } = giant;
  const keys = Array.from({ length: giant.mid_keys ?? 0 }, (_, i) => `"k${i}":0`).join(",");
  const middle = mid + part.repeat(times) + (giant.mid_tail ?? "") + keys;
  return open.repeat(n) + middle + close.repeat(n);
}

function loadLines<T>(name: string): readonly T[] {
  const lines = loadVector(name).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as T);
}

function loadVector(name: string): string {
  return readFileSync(new URL(`../../../vectors/${name}`, import.meta.url), "utf8");
}
