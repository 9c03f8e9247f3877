import { afterAll, beforeAll } from "vitest";
import type { Carrier } from "../network/carrier.ts";
import { startValidatingProxy, type ValidatingProxy } from "../network/validating-proxy.ts";

/** Creates one validating proxy for all tests of a file. */
export function createProxyCarrier(): Carrier {
  let proxy: ValidatingProxy;
  beforeAll(async () => {
    proxy = await startValidatingProxy();
  });
  afterAll(() => proxy.close());
  return (relay, request) => proxy.carry(relay, request);
}
