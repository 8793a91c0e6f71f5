import { describe, expect, test } from "vitest";
import { checkPasswordPolicy } from "../../agent/checks/linux/password-policy.ts";
import type { FileResult } from "../../agent/host.ts";
import { recordedHost } from "./recorded-host.ts";
import { DENIED, type Files, linux } from "./recordings/linux.ts";

describe("the password policy", () => {
	const check = (files: Files) =>
		checkPasswordPolicy(recordedHost(linux({ files })));
	const PASSWD =
		"#\n# The PAM configuration file for the Shadow `passwd' service\n#\n\n@include common-password\n";
	const debian = (rules: string, more: Files = {}): Files => ({
		"/etc/pam.d/passwd": PASSWD,
		"/etc/pam.d/common-password": `# here are the per-package modules\n${rules}password\trequisite\t\t\tpam_deny.so\npassword\trequired\t\t\tpam_permit.so\n`,
		...more,
	});
	const UNIX =
		"password\t[success=1 default=ignore]\tpam_unix.so obscure yescrypt\n";
	const AFTER =
		"password\t[success=1 default=ignore]\tpam_unix.so obscure use_authtok try_first_pass yescrypt\n";
	const PWQUALITY = "password\trequisite\t\t\tpam_pwquality.so retry=3\n";
	const CONF = "/etc/security/pwquality.conf";
	const rhel = (line: string, more: Files = {}): Files => ({
		"/etc/pam.d/passwd":
			"#%PAM-1.0\nauth       include      system-auth\npassword   substack     system-auth\n-password   optional    pam_gnome_keyring.so use_authtok\npassword   substack     postlogin\n",
		"/etc/pam.d/postlogin": "session optional pam_umask.so silent\n",
		"/etc/pam.d/system-auth": `auth        required                                     pam_env.so\nauth        required                                     pam_faillock.so preauth silent deny=4\n${line}password    sufficient                                   pam_unix.so yescrypt shadow nullok use_authtok\npassword    required                                     pam_deny.so\n`,
		"/etc/pam.d/login": "auth       substack     system-auth\n",
		...more,
	});
	const RHEL =
		"password    requisite                                    pam_pwquality.so local_users_only\n";

	const accounts = {
		"/etc/passwd":
			"root:x:0:0:root:/root:/bin/bash\nsync:x:4:65534:sync:/bin:/bin/sync\nada:x:1000:1000::/home/ada:/bin/bash\n",
	};

	test.each([
		[
			"an account whose password is empty",
			debian(UNIX.replace("obscure", "obscure minlen=12"), {
				...accounts,
				"/etc/shadow":
					"root:*:19700:0:99999:7:::\nsync:*:19700:0:99999:7:::\nada::19700:0:99999:7:::\n",
			}),
			"FAIL",
			{ minimum_length: 12, empty_passwords: 1 },
		],
		[
			"accounts that are locked or cannot sign in",
			debian(UNIX.replace("obscure", "obscure minlen=12"), {
				...accounts,
				"/etc/shadow":
					"root:!:19700:0:99999:7:::\nsync::19700:0:99999:7:::\nada:$y$j9T$x:19700:0:99999:7:::\n",
			}),
			"PASS",
			{ minimum_length: 12 },
		],
		[
			"Debian with its defaults",
			debian(UNIX),
			"FAIL",
			{ engine: "pam_unix", minimum_length: 6 },
		],
		[
			"pam_unix with a length of its own",
			debian(UNIX.replace("obscure", "obscure minlen=12")),
			"PASS",
			{ minimum_length: 12 },
		],
		[
			"pam_pwquality at its default",
			debian(PWQUALITY + AFTER),
			"PASS",
			{ engine: "pam_pwquality", minimum_length: 8 },
		],
		[
			"a length in its file",
			debian(PWQUALITY + AFTER, {
				[CONF]: "# minlen = 6\nminlen = 14 # characters\ndictcheck = 1\n",
			}),
			"PASS",
			{ minimum_length: 14 },
		],
		[
			"a length below eight in its file",
			debian(PWQUALITY + AFTER, { [CONF]: "minlen = 6\n" }),
			"FAIL",
			{ minimum_length: 6 },
		],
		[
			"an option that replaces the file, which replaces the folder",
			debian(PWQUALITY.replace("retry=3", "retry=3 minlen=10") + AFTER, {
				[CONF]: "minlen = 6\n",
				"/etc/security/pwquality.conf.d/50.conf": "minlen=7\n",
			}),
			"PASS",
			{ minimum_length: 10 },
		],
		[
			"credits that make a password count as longer",
			debian(PWQUALITY + AFTER, {
				[CONF]: "minlen = 9\ndcredit = 1\nucredit = 1\nlcredit = -1\n",
			}),
			"FAIL",
			{ minimum_length: 7 },
		],
		[
			"a warning that enforces nothing",
			debian(PWQUALITY + AFTER, { [CONF]: "enforcing = 0\n" }),
			"FAIL",
			{ enforced: false },
		],
		[
			"a module whose failure is ignored",
			debian(PWQUALITY.replace("requisite", "optional") + AFTER),
			"FAIL",
			{ enforced: false },
		],
		[
			"RHEL with a lock after failures",
			rhel(RHEL, { "/etc/login.defs": "PASS_MAX_DAYS\t90\nPASS_MIN_LEN\t5\n" }),
			"PASS",
			{ lockout_attempts: 4, maximum_age_days: 90 },
		],
		["RHEL without its module", rhel(""), "FAIL", { engine: "pam_unix" }],
		[
			"passwdqc",
			rhel(
				"password required pam_passwdqc.so min=disabled,24,12,8,8 retry=3\n",
			),
			"PASS",
			{ engine: "pam_passwdqc", minimum_length: 8 },
		],
		[
			"passwdqc at its default",
			rhel("password required pam_passwdqc.so config=/etc/passwdqc.conf\n", {
				"/etc/passwdqc.conf": "max=72\nenforce=everyone\n",
			}),
			"FAIL",
			{ minimum_length: 7 },
		],
		[
			"cracklib at its default, with credits",
			rhel("password requisite pam_cracklib.so\n"),
			"FAIL",
			{ engine: "pam_cracklib", minimum_length: 6 },
		],
		[
			"cracklib without credits",
			rhel(
				"password requisite pam_cracklib.so minlen=12 dcredit=-1 ucredit=-1 lcredit=-1 ocredit=0\n",
			),
			"PASS",
			{ minimum_length: 12 },
		],
		[
			"files that a distribution keeps below /usr",
			{
				"/usr/lib/pam.d/passwd": "password include common-password\n",
				"/usr/lib/pam.d/common-password": PWQUALITY + AFTER,
			},
			"PASS",
			{},
		],
		["no PAM", {}, "UNKNOWN", { reason: "no_pam" }],
		[
			"an included file that is missing",
			{ "/etc/pam.d/passwd": PASSWD },
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
		[
			"a file that includes itself",
			{ "/etc/pam.d/passwd": "@include passwd\n" },
			"UNKNOWN",
			{},
		],
		[
			"a length that is not a number",
			debian(PWQUALITY + AFTER, { [CONF]: "minlen = long\n" }),
			"UNKNOWN",
			{},
		],
		[
			"settings that may not be read",
			debian(PWQUALITY + AFTER, {
				[CONF]: DENIED as Exclude<FileResult, { kind: "text" }>,
			}),
			"UNKNOWN",
			{},
		],
	] as const)("%s", async (_, files, status, evidence) => {
		expect(await check(files)).toMatchObject({ status, evidence });
	});
});
