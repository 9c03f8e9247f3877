/** Why this Node.js cannot run the agent, as a line for its operator; the manifest says the same to npm. */
export function checkNodeVersion(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > 22 || (major === 22 && minor >= 18);
  return isEnough ? undefined : `Node.js 22.18 or newer is needed, this is ${version}`;
}
