import { expect, test } from "vitest";
import { buildEndpointUrl } from "./endpoint-url.ts";

test.each([
  ["https://agent.example", "http://127.0.0.1:1/mcp", "https://agent.example/mcp"],
  ["https://agent.example/", undefined, "https://agent.example/mcp"],
  ["https://agent.example/a/", undefined, "https://agent.example/a/mcp"],
  ["https://agent.example/mcp", undefined, "https://agent.example/mcp"],
  [undefined, "http://127.0.0.1:1/mcp", "http://127.0.0.1:1/mcp"],
  [undefined, "http://0.0.0.0:1/mcp", "http://127.0.0.1:1/mcp"],
  [undefined, "http://[::]:1/mcp", "http://[::1]:1/mcp"],
  [undefined, undefined, undefined],
])(
  "for the public URL %s and the listening URL %s the endpoint is %s",
  (publicUrl, listening, expected) => {
    expect(buildEndpointUrl(publicUrl, listening)).toBe(expected);
  },
);
