/**
 * Control and unassigned characters, invisible ones, blanks that count as letters, characters that change the
 * direction of text, and more marks on one letter than any language uses, which would cover other lines. U+FE0F
 * is allowed, because many emoji contain it.
 */
const UNSEEN = /(?![\n\t]|\ufe0f)[\p{C}\p{DI}\p{Zl}\p{Zp}\u2800]|(?<=\p{M}{4})\p{M}/gu;

/** Replaces invisible characters by their code points, so that a text cannot hide or reorder another text. */
export function showText(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return shown.replaceAll(UNSEEN, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

/** Shows a text on one line. */
export function showLine(text: string, maxLength?: number): string {
  return showText(text.replaceAll(/\s+/g, " ").trim(), maxLength);
}

/** Formats a time in ms for people, in UTC. */
export function showTime(ms: unknown): string {
  const date = new Date(typeof ms === "number" ? ms : Number.NaN);
  if (Number.isNaN(date.getTime())) return "an unknown time";
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** Formats an amount in US dollars, exact to the millionth. */
export function showDollars(micro: number): string {
  const [whole = "", cents = ""] = (Math.abs(micro) / 1e6).toFixed(6).split(".");
  const fraction = cents.slice(0, 2) + cents.slice(2).replace(/0+$/, "");
  return `${micro < 0 ? "−" : ""}${whole}.${fraction} USD`;
}

export const toMicroUnits = (amount: number): number => Math.round(amount * 1e6);

/** Formats a number with its noun, such as `1 socket` and `2 sockets`. */
export const showCount = (count: number, noun: string) =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;
