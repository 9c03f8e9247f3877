import { isJsonObject, parseJsonText } from "@agent/crypto";

/** A key that the reader keeps in this browser, and where the reader had it from. */
export interface KeptKey {
  readonly key: string;
  readonly source: string;
}

const STORAGE_NAME = "agent-verify-keys";

export function loadKeptKeys(): readonly KeptKey[] {
  try {
    const kept = parseJsonText(localStorage.getItem(STORAGE_NAME) ?? "[]")?.value;
    return Array.isArray(kept) ? kept.filter(isKeptKey) : [];
  } catch {
    // A browser may refuse storage to a page.
    return [];
  }
}

export function saveKeptKeys(kept: readonly KeptKey[]): void {
  try {
    if (kept.length === 0) localStorage.removeItem(STORAGE_NAME);
    else localStorage.setItem(STORAGE_NAME, JSON.stringify(kept));
  } catch {
    // The keys then last as long as the page.
  }
}

function isKeptKey(value: unknown): value is KeptKey {
  return (
    isJsonObject(value) &&
    typeof value["key"] === "string" &&
    typeof value["source"] === "string" &&
    /^\S+$/.test(value["key"])
  );
}
