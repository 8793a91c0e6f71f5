import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { ask, integer, part, whyUnread } from "./powershell.ts";

/**
 * Reads the policy that is in force for the accounts of this device, including a domain's policy.
 * The script calls a system function instead of a command, because `net accounts` answers in the
 * display language and `secedit` writes its answer only to a file.
 */
export const PASSWORD_POLICY_SCRIPT = `
@{
  policy = Read-Part {
    $name = (Reg 'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\ComputerName\\ActiveComputerName').ComputerName
    $computer = [ADSI] ('WinNT://' + $name + ',computer')
    @{
      minimumLength = $computer.MinPasswordLength.Value
      maximumAgeSeconds = $computer.MaxPasswordAge.Value
      history = $computer.PasswordHistoryLength.Value
      lockout = $computer.MaxBadPasswordsAllowed.Value
    }
  }
  managedLength = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\PolicyManager\\current\\device\\DeviceLock').MinDevicePasswordLength
  managedOff = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\PolicyManager\\current\\device\\DeviceLock').DevicePasswordEnabled
  cloudJoined = (@(Get-ChildItem -LiteralPath 'Registry::HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\CloudDomainJoin\\JoinInfo' -ErrorAction SilentlyContinue).Count -gt 0)
}
`;

/**
 * Returns PASS if the local policy or device management requires at least 8 characters in a
 * password. On a device that is joined to Entra ID, the rules for users' passwords are in Entra ID,
 * and the device does not know them. A weak local policy is then UNKNOWN.
 */
export async function passwordPolicy(host: Host): Promise<CheckOutcome> {
	const asked = await ask(host, PASSWORD_POLICY_SCRIPT);
	if ("trouble" in asked) return asked.trouble;
	const { answer } = asked;
	const policy = part(answer, "policy");
	// The value 1 means that device management does not require a password.
	const managed =
		integer(answer.managedOff) === 1
			? undefined
			: integer(answer.managedLength);
	const cloudJoined = answer.cloudJoined === true;
	const values = policy.kind === "values" ? policy.values[0] : undefined;
	const local = integer(values?.minimumLength);
	if (local === undefined && managed === undefined) {
		return unknown(
			policy.kind === "values"
				? "unrecognized_output"
				: whyUnread(host, policy),
		);
	}

	const length = Math.max(local ?? 0, managed ?? 0);
	const ageSeconds = integer(values?.maximumAgeSeconds);
	const evidence = {
		minimum_length: length,
		...numbered("history_length", integer(values?.history)),
		// A threshold of 0 means that accounts are never locked.
		...numbered("lockout_threshold", integer(values?.lockout)),
		...numbered(
			"maximum_age_days",
			ageSeconds !== undefined && ageSeconds > 0
				? Math.floor(ageSeconds / 86_400)
				: undefined,
		),
		cloud_joined: cloudJoined,
	};
	if (length >= host.threshold("min_password_length")) return pass(evidence);
	if (cloudJoined) return unknown("cloud_managed_accounts", evidence);
	return local === undefined
		? unknown("local_policy_unread", evidence)
		: fail(evidence);
}

const numbered = (field: string, value: number | undefined) =>
	value === undefined ? {} : { [field]: value };
