import { readRequestBody } from "@modelcontextprotocol/server";

type ReadBodyResult = { readonly ok: true; readonly text: string } | { readonly ok: false };

/** Reads at most `maxBytes` of a request's body, independent of its headers. */
export async function readBody(request: Request, maxBytes: number): Promise<ReadBodyResult> {
  const declared = request.headers.get("content-length");
  if (declared !== null) {
    // The HTTP parser enforces the declared length, and reading the whole body at once is faster.
    return Number(declared) > maxBytes ? { ok: false } : { ok: true, text: await request.text() };
  }
  const body = await readRequestBody(request, maxBytes);
  return body.tooLarge ? { ok: false } : { ok: true, text: body.text };
}
