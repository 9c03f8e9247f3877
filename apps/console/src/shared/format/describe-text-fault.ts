import type { JsonTextFault } from "@agent/crypto";
import { showText } from "./show-text.ts";

const MAX_NAME = 60;

/** Describes a fault in one sentence. The member's name is quoted to distinguish it from the page's words. */
export function describeTextFault({ path, message }: JsonTextFault): string {
  const name = path.length > MAX_NAME ? `${path.slice(0, MAX_NAME)}…` : path;
  const subject = path === "" ? "It" : `The member ${showText(JSON.stringify(name))}`;
  return `${subject} ${message}.`;
}
