import { readRequestBody } from "@modelcontextprotocol/server";

type ReadBodyResult = { readonly ok: true; readonly text: string } | { readonly ok: false };

/** A request's body, never more than `maxBytes` of it, whatever its headers claim. */
export async function readBody(request: Request, maxBytes: number): Promise<ReadBodyResult> {
  const declared = request.headers.get("content-length");
  if (declared !== null) {
    // The HTTP parser holds the sender to the length that it declared, and reading in one go is quicker.
    return Number(declared) > maxBytes ? { ok: false } : { ok: true, text: await request.text() };
  }
  const body = await readRequestBody(request, maxBytes);
  return body.tooLarge ? { ok: false } : { ok: true, text: body.text };
}
