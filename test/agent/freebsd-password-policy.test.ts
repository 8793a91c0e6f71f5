import { bsdTable } from "./freebsd-table.ts";
import { file } from "./recorded-table.ts";
import { passwdqc } from "./recordings/freebsd.ts";

const pam = (text: string) => file("/etc/pam.d/passwd", text);
const qc = { quality_module: "pam_passwdqc" };

bsdTable("PASSWORD_POLICY", [
	[
		"12 characters at least, root excepted",
		{},
		"PASS",
		{ ...qc, minimum_length: 12, enforced_for_root: false },
	],
	[
		"the policy of a new FreeBSD",
		pam(
			"password	required	pam_unix.so		no_warn try_first_pass nullok # pam_passwdqc.so\n",
		),
		"FAIL",
		{ minimum_length: 0, quality_module: "none" },
	],
	[
		"the module's own default",
		pam(passwdqc("")),
		"FAIL",
		{ ...qc, minimum_length: 7, enforced_for_root: true },
	],
	[
		"a rule that only warns",
		pam(passwdqc("min=disabled,24,14,12,12 enforce=none")),
		"FAIL",
		{ ...qc, enforced: false },
	],
	[
		"a rule whose result is ignored",
		pam("password optional pam_passwdqc.so min=disabled,24,14,12,12\n"),
		"UNKNOWN",
		{ reason: "rule_not_binding", ...qc },
	],
	[
		"rules of another service",
		pam("password include system\n"),
		"UNKNOWN",
		{ reason: "included_rules_not_read" },
	],
	[
		"settings in another file",
		pam(passwdqc("config=/usr/local/etc/passwdqc.conf")),
		"UNKNOWN",
		{ reason: "settings_elsewhere", ...qc },
	],
	[
		"lengths that are not numbers",
		pam(passwdqc("min=twelve")),
		"UNKNOWN",
		{ reason: "unrecognized_output", ...qc },
	],
	[
		"another module",
		pam("password requisite /usr/local/lib/pam_pwquality.so minlen=14\n"),
		"UNKNOWN",
		{ reason: "module_not_known" },
	],
	[
		"a missing file",
		{ without: ["/etc/pam.d/passwd"] },
		"UNKNOWN",
		{ reason: "pam_settings_not_readable" },
	],
]);
