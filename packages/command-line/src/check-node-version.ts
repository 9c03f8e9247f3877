/** Returns an error line if this version of Node.js is too old; the package.json files state the same range. */
export function checkNodeVersion(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > 22 || (major === 22 && minor >= 19);
  return isEnough ? undefined : `Node.js 22.19 or newer is needed, this is ${version}`;
}
