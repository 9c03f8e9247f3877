import { sha256Hex } from "@agent/crypto";
import { buildOpenApi } from "@agent/wire";
import { operations } from "../operations.ts";
import { version } from "../version.ts";
import { buildReferencePage } from "./reference-page.ts";

// Built on first use, because it takes longer than the rest of a start.
let cachedDocument: ReturnType<typeof buildOpenApi> | undefined;
let cachedText: ContractText | undefined;
let cachedPage: string | undefined;

/** The contract as the text that every caller gets. */
export interface ContractText {
  readonly text: string;
  /** An entity tag: the quoted hash of the text. */
  readonly etag: string;
}

/** Returns the contract of this version in OpenAPI. */
export function getContractDocument(): ReturnType<typeof buildOpenApi> {
  cachedDocument ??= buildOpenApi(operations, version);
  return cachedDocument;
}

/** Returns the contract as JSON; it is public, so it is made once. */
export function getContractText(): ContractText {
  if (cachedText === undefined) {
    const text = JSON.stringify(getContractDocument());
    cachedText = { text, etag: `"${sha256Hex(text)}"` };
  }
  return cachedText;
}

/** Returns the contract as an HTML page. */
export function getContractPage(): string {
  cachedPage ??= buildReferencePage(getContractDocument());
  return cachedPage;
}
