/** Removes the code from the page's address, so that neither history nor a copied address contains it. */
export function takePairingCode(
  { hash, pathname, search }: Pick<Location, "hash" | "pathname" | "search">,
  replaceAddress: (address: string) => void,
): string | undefined {
  const code = /^#pair=(.*)$/.exec(hash)?.[1];
  if (code === undefined) return undefined;
  replaceAddress(pathname + search);
  return normalizeCode(code);
}

/** Returns a code in the form that the relay compares; undefined if the text cannot be a code. */
export function normalizeCode(text: string): string | undefined {
  const code = text.toUpperCase().replaceAll(/[\s-]/g, "");
  return /^[2-9A-HJKMNP-Z]{6}$/.test(code) ? code : undefined;
}

/** Names this browser for the owner, who sees the name at the terminal. */
export function describeBrowser(userAgent: string): string {
  const browser = NAMES.find(([sign]) => userAgent.includes(sign))?.[1] ?? "A browser";
  const system = SYSTEMS.find(([sign]) => userAgent.includes(sign))?.[1];
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** The first match decides, because most browsers name other browsers as well. */
const NAMES = [
  ["Edg/", "Edge"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;

const SYSTEMS = [
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Windows", "Windows"],
  ["Mac OS", "macOS"],
  ["Linux", "Linux"],
] as const;
