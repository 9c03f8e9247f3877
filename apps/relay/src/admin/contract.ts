import { gzipSync } from "node:zlib";
import { sha256Hex } from "@agent/crypto";
import { buildOpenApi } from "@agent/wire";
import { operations } from "../operations.ts";
import { version } from "../version.ts";
import { buildReferencePage } from "./reference-page.ts";

// Built on first use, because building it takes longer than the rest of the start.
let cachedDocument: ReturnType<typeof buildOpenApi> | undefined;
let cachedFiles: Record<ContentCoding, ContractFile> | undefined;
let cachedPage: string | undefined;

type ContentCoding = "identity" | "gzip";

/** The contract as the bytes that every caller gets. */
interface ContractFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** An entity tag: the quoted hash of the bytes. */
  readonly etag: string;
}

/** Returns the contract of this version in OpenAPI. */
function getContractDocument(): ReturnType<typeof buildOpenApi> {
  cachedDocument ??= buildOpenApi(operations, version);
  return cachedDocument;
}

/** Returns the contract as JSON; it is public, so it is made once. */
export function getContractFile(coding: ContentCoding): ContractFile {
  if (cachedFiles === undefined) {
    const text = Buffer.from(JSON.stringify(getContractDocument()));
    cachedFiles = { identity: toFile(text), gzip: toFile(gzipSync(text)) };
  }
  return cachedFiles[coding];
}

const toFile = (content: Buffer): ContractFile => ({
  bytes: new Uint8Array(content),
  etag: `"${sha256Hex(content)}"`,
});

/** Returns the contract as an HTML page. */
export function getContractPage(): string {
  cachedPage ??= buildReferencePage(getContractDocument());
  return cachedPage;
}
