/** The characters of a code or a fingerprint that a person reads at a time. */
const GROUP_LENGTH = 4;

/** Formats a fingerprint in groups, as the page of the browser shows it too. */
export function formatFingerprint(fingerprint: string): string {
  const groups = new RegExp(`.{1,${GROUP_LENGTH}}`, "g");
  return (fingerprint.match(groups) ?? []).join(" ");
}

/** Shows a name that another party chose, without characters that could forge lines of a terminal. */
export function formatDeviceName(name: string): string {
  return `"${name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "\u{FFFD}")}"`;
}

/** Builds the address of the owner's page; its fragment carries the code and reaches no server. */
export function buildPairingLink(relayUrl: string, code: string): string {
  return `${buildPageUrl(relayUrl)}#pair=${code}`;
}

/** Builds the address of the owner's page at a relay. */
export function buildPageUrl(relayUrl: string): string {
  return `${relayUrl.replace(/\/+$/, "")}/console/me`;
}

/** Returns whether a browser makes keys on a page of this address: over https, or on this machine. */
export function isSecurePage(relayUrl: string): boolean {
  const { protocol, hostname } = new URL(relayUrl);
  const isLoopback = /^(localhost|(.+\.)?localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  return protocol === "https:" || isLoopback;
}
