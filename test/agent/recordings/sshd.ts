/** Returns the output of `sshd -T` of OpenSSH 9.7, shortened. `changes` replace the defaults. */
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

/**
 * The sshd_config of macOS and FreeBSD, shortened. The two systems differ only in the output of
 * `sshd -T`.
 */
export const SSHD_CONFIG =
	"#Port 22\n#PermitRootLogin prohibit-password\nInclude /etc/ssh/sshd_config.d/*\nAuthorizedKeysFile\t.ssh/authorized_keys\nSubsystem\tsftp\tinternal-sftp\n";

/** The file C:\\ProgramData\\ssh\\sshd_config as Windows creates it, shortened. */
export const WINDOWS_SSHD_CONFIG =
	"#Port 22\r\n#PasswordAuthentication yes\r\nSubsystem\tsftp\tsftp-server.exe\r\n\r\nMatch Group administrators\r\n       AuthorizedKeysFile __PROGRAMDATA__/ssh/administrators_authorized_keys\r\n";
