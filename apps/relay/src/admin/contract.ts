import { openApi } from "@agent/wire";
import { version } from "../version.ts";
import { referencePage } from "./reference-page.ts";

// Made when first asked for: it takes longer than all the rest of a start.
let document: ReturnType<typeof openApi> | undefined;
let page: string | undefined;

/** The contract of this version in OpenAPI. */
export function contractDocument(): ReturnType<typeof openApi> {
  document ??= openApi(version);
  return document;
}

/** The same as a page to read. */
export function contractPage(): string {
  page ??= referencePage(contractDocument());
  return page;
}
