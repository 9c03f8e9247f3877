import { buildOpenApi } from "@agent/wire";
import { operations } from "../operations.ts";
import { version } from "../version.ts";
import { buildReferencePage } from "./reference-page.ts";

// Made when first asked for: it takes longer than all the rest of a start.
let cachedDocument: ReturnType<typeof buildOpenApi> | undefined;
let cachedPage: string | undefined;

/** The contract of this version in OpenAPI. */
export function getContractDocument(): ReturnType<typeof buildOpenApi> {
  cachedDocument ??= buildOpenApi(operations, version);
  return cachedDocument;
}

/** The same as a page to read. */
export function getContractPage(): string {
  cachedPage ??= buildReferencePage(getContractDocument());
  return cachedPage;
}
