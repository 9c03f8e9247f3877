import { readJsonText } from "@agent/crypto";
import { describeTextFault } from "../../shared/format/describe-text-fault.ts";

/** The position in a file from which it cannot be read. */
export interface TextFault {
  /** Counted from 1; null if the browser does not state it. */
  readonly line: number | null;
  /** Counted from 1, in bytes of the file. */
  readonly byte: number | null;
  readonly reason: string;
}

const encoder = new TextEncoder();

/** Decodes UTF-8 strictly, because a lenient decoder would accept different files as the same text. */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Finds the first byte that is not UTF-8, by bisection. */
export function findEncodingFault(bytes: Uint8Array): TextFault {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isBeginningOfText(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  const line = bytes.subarray(0, good).reduce((count, byte) => count + Number(byte === 10), 1);
  return { line, byte: bad, reason: "This byte is not UTF-8 text." };
}

function isBeginningOfText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** The maximum length in which the position is searched, because a longer search would block the page. */
const MAX_SEARCHED = 4_000_000;

/** Finds the position at which a text is no longer JSON: from the browser's message, or otherwise by bisection. */
export function findJsonFault(text: string): TextFault {
  try {
    JSON.parse(text);
  } catch (error) {
    const index = findIndex(text, error) ?? findBadCharacter(text);
    if (index === null) return { line: null, byte: null, reason: "The text is not JSON." };
    const before = text.slice(0, index);
    return {
      line: before.split("\n").length,
      byte: encoder.encode(before).length + 1,
      reason: "Here the text stops being JSON.",
    };
  }
  const read = readJsonText(text);
  const reason = "fault" in read ? describeTextFault(read.fault) : "The text is not JSON.";
  return { line: null, byte: null, reason };
}

function findBadCharacter(text: string): number | null {
  if (text.length > MAX_SEARCHED) return null;
  let good = 0;
  let bad = text.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isBeginningOfJson(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function isBeginningOfJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    return findIndex(text, error) === text.length;
  }
}

/** Reads the offset from the error message, which differs between JavaScript engines. */
function findIndex(text: string, error: unknown): number | null {
  const message = error instanceof Error ? error.message : "";
  const position = /position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
  if (line !== undefined) {
    const lines = text.split("\n").slice(0, Number(line) - 1);
    return lines.reduce((sum, each) => sum + each.length + 1, Number(column) - 1);
  }
  return /unexpected (end|eof)/i.test(message) ? text.length : null;
}
