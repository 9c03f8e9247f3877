import { bytesToHex, generateKeyPair } from "@agent/crypto";
import { vi } from "vitest";
import type { GuideClient } from "./test-guide.ts";

/**
 * Runs the command of a block that pairs a browser, claims its code with a key as the page does, and confirms.
 * Later blocks can use the new device as `DEVICE_ID`. The page itself is tested in test/browser.
 */
export const pairBrowser: GuideClient = async (block, shell) => {
  const transcript = "pairing.txt";
  await shell.run(`: > ${transcript}`);
  const paired = shell.run(`{ echo y | { ${block.trimEnd()}\n} } | tee ${transcript}`);
  const readLink = async () => {
    const text = await shell.run(`cat ${transcript}`);
    const [, relay, code] = /(http:\S+)\/console\/me#pair=(\w+)/.exec(text) ?? [];
    if (relay === undefined || code === undefined) throw new Error(`no link in: ${text}`);
    return { relay, code };
  };
  const { relay, code: pairing_code } = await vi.waitFor(readLink, { timeout: 20_000 });
  const public_key = bytesToHex(generateKeyPair().publicKey);
  const claimed = await fetch(`${relay}/pairing/claim`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ pairing_code, device_name: "a phone", public_key }),
  });
  if (!claimed.ok) throw new Error(await claimed.text());
  const output = await paired;
  const device = /paired as device (\S+)/.exec(output)?.[1] ?? "";
  await shell.run(`DEVICE_ID=${device}`);
  return output;
};
