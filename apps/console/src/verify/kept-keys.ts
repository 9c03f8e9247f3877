import { isJsonObject, parseJsonText } from "@agent/crypto";

/** A key that the reader stored in this browser, and its source. */
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
    // A browser may deny storage to a page.
    return [];
  }
}

export function saveKeptKeys(kept: readonly KeptKey[]): void {
  try {
    if (kept.length === 0) localStorage.removeItem(STORAGE_NAME);
    else localStorage.setItem(STORAGE_NAME, JSON.stringify(kept));
  } catch {
    // The keys then last until the page is closed.
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
