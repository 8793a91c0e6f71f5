/** `sshd -T` of OpenSSH 9.7, shortened, with `changes` in place of the defaults. */
export function sshdSays(changes: Record<string, string> = {}): string {
	const settings = {
		port: "22",
		addressfamily: "any",
		listenaddress: "0.0.0.0:22",
		usepam: "yes",
		permitrootlogin: "prohibit-password",
		pubkeyauthentication: "yes",
		passwordauthentication: "no",
		kbdinteractiveauthentication: "no",
		permitemptypasswords: "no",
		authenticationmethods: "any",
		...changes,
	};
	return Object.entries(settings)
		.map(([keyword, value]) => `${keyword} ${value}\n`)
		.join("");
}
