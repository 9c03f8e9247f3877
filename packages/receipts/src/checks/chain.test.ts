import { describe, expect, test } from "vitest";
import { alice, buildChain, buildSignedReceipt } from "../../test/fixtures.ts";
import { type ExecutionReceipt, flattenChain, getVerdictAt, verifyReceipt } from "../index.ts";

const named = (result: string, ...nested: unknown[]) =>
  buildSignedReceipt({ result, delegation_receipts: nested as ExecutionReceipt[] });

describe("chains of receipts", () => {
  const tree = named("root", named("a", named("a.a"), named("a.b")), named("b"));

  test("a chain of receipts lists a nested receipt after the one around it", () => {
    const { links, depthLimited, count } = flattenChain(tree);
    expect(
      links.map(({ receipt, parent, depth, path }) => [receipt.result, parent.result, depth, path]),
    ).toEqual([
      ["a", "root", 1, [0]],
      ["a.a", "a", 2, [0, 0]],
      ["a.b", "a", 2, [0, 1]],
      ["b", "root", 1, [1]],
    ]);
    expect({ depthLimited, count }).toEqual({ depthLimited: false, count: 4 });
  });

  test("the chain of a receipt without nested ones is empty", () => {
    expect(flattenChain(buildSignedReceipt())).toEqual({
      links: [],
      depthLimited: false,
      count: 0,
    });
  });

  test("a chain leaves out a malformed receipt with all inside it, and counts it", () => {
    const malformed = { ...named("a", named("a.a")), status: "done" };
    const { links, count } = flattenChain(named("root", malformed, named("b")));
    expect(links.map(({ receipt, path }) => [receipt.result, path])).toEqual([["b", [1]]]);
    expect(count).toBe(3);
  });

  test.each([
    [10, 10, false],
    [11, 10, true],
    [12, 10, true],
  ])("a chain of %i hops is listed for %i", (hops, walked, depthLimited) => {
    const chain = flattenChain(buildChain(hops));
    expect(chain.links).toHaveLength(walked);
    expect(chain).toMatchObject({ depthLimited, count: hops });
  });
});

describe("the verdict of a link", () => {
  const tampered = { ...named("b", named("b.a")), memories_formed: 9 };
  const root = named("root", named("a", named("a.a")), tampered);
  const verdict = verifyReceipt(root, { publicKey: alice.publicKey });

  test("the verdict of a link is found at the link's path", () => {
    const codes = flattenChain(root).links.map(({ receipt, path }) => {
      const { valid, code } = getVerdictAt(verdict, path) ?? { valid: "unverified" };
      return [receipt.result, valid, code];
    });
    expect(codes).toEqual([
      ["a", true, undefined],
      ["a.a", true, undefined],
      ["b", false, "receipt.signature_invalid"],
      ["b.a", "unverified", undefined],
    ]);
  });

  test("the verdict at the empty path is the whole verdict", () => {
    expect(getVerdictAt(verdict, [])).toBe(verdict);
  });
});
