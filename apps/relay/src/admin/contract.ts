import { buildOpenApi } from "@agent/wire";
import { operations } from "../operations.ts";
import { version } from "../version.ts";
import { buildReferencePage } from "./reference-page.ts";

// Built on first use, because it takes longer than the rest of a start.
let cachedDocument: ReturnType<typeof buildOpenApi> | undefined;
let cachedPage: string | undefined;

/** Returns the contract of this version in OpenAPI. */
export function getContractDocument(): ReturnType<typeof buildOpenApi> {
  cachedDocument ??= buildOpenApi(operations, version);
  return cachedDocument;
}

/** Returns the contract as an HTML page. */
export function getContractPage(): string {
  cachedPage ??= buildReferencePage(getContractDocument());
  return cachedPage;
}
