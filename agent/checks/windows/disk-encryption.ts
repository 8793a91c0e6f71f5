import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import {
	type Answer,
	ask,
	integer,
	part,
	text,
	whyUnread,
} from "./powershell.ts";

/**
 * Reads the numbers that BitLocker reports. The "device encryption" of the Home editions reports
 * the same ones, because it uses BitLocker.
 */
export const DISK_ENCRYPTION_SCRIPT = `
@{
  systemDrive = [string] $env:SystemDrive
  volumes = Read-Part { Get-CimInstance -Namespace root/CIMV2/Security/MicrosoftVolumeEncryption -ClassName Win32_EncryptableVolume |
    Select-Object 'DriveLetter', 'VolumeType', 'ProtectionStatus', 'ConversionStatus', 'EncryptionMethod' }
  drivers = Read-Part { Get-CimInstance -ClassName Win32_SystemDriver -Filter "State='Running' AND (Name='veracrypt' OR Name='truecrypt' OR Name='dcrypt' OR Name='PGPwded' OR Name='MfeEpePc')" |
    Select-Object 'Name' }
}
`;

const PROTECTED = 1;
const LOCKED_OR_UNKNOWN = 2;
const FULLY_ENCRYPTED = 1;
const DATA_VOLUME = 1;

const CONVERSION = [
	"decrypted",
	"encrypted",
	"encrypting",
	"decrypting",
	"encryption_paused",
	"decryption_paused",
];
const METHODS = [
	"none",
	"aes_128_diffuser",
	"aes_256_diffuser",
	"aes_128",
	"aes_256",
	"hardware",
	"xts_aes_128",
	"xts_aes_256",
];
const ENGINES: Record<string, string> = {
	veracrypt: "veracrypt",
	truecrypt: "truecrypt",
	dcrypt: "diskcryptor",
	pgpwded: "symantec_pgp",
	mfeepepc: "trellix_drive_encryption",
};

/**
 * Returns PASS if the system drive is fully encrypted and its key is not stored in the clear. The
 * result is FAIL while protection is suspended, which leaves the key in the clear, and while the
 * drive is still being encrypted. The same holds for every other fixed drive with a letter, except
 * that a locked one counts as encrypted. Removable drives do not count.
 */
export async function diskEncryption(host: Host): Promise<CheckOutcome> {
	const asked = await ask(host, DISK_ENCRYPTION_SCRIPT);
	if ("trouble" in asked) return asked.trouble;
	const volumes = part(asked.answer, "volumes");
	const otherEngine = runningEngine(asked.answer);
	if (volumes.kind !== "values") {
		if (volumes.kind === "absent") {
			return otherEngine
				? unknown("third_party_encryption", { engine: otherEngine })
				: unknown("bitlocker_not_installed");
		}
		return unknown(whyUnread(host, volumes));
	}

	const drive = text(asked.answer.systemDrive)?.toUpperCase();
	const system = volumes.values.find(
		(volume) =>
			drive !== undefined &&
			/^[A-Z]:$/.test(drive) &&
			text(volume.DriveLetter)?.toUpperCase() === drive,
	);
	const protection = integer(system?.ProtectionStatus);
	if (system === undefined || protection === undefined) {
		return otherEngine
			? unknown("third_party_encryption", { engine: otherEngine })
			: unknown("system_drive_not_listed");
	}
	const conversion = integer(system.ConversionStatus);
	const evidence = {
		engine: "bitlocker",
		...named("encryption_method", METHODS, system.EncryptionMethod),
		...named("conversion", CONVERSION, system.ConversionStatus),
		...dataVolumes(volumes.values.filter((volume) => volume !== system)),
	};
	if (protection === PROTECTED && conversion === FULLY_ENCRYPTED) {
		if (evidence.unprotected_data_volumes === 0) return pass(evidence);
		return otherEngine
			? unknown("third_party_encryption", { ...evidence, engine: otherEngine })
			: fail(evidence);
	}
	if (protection === LOCKED_OR_UNKNOWN || conversion === undefined) {
		return unknown("protection_unknown", evidence);
	}
	if (protection !== 0 && protection !== PROTECTED) {
		return unknown("unrecognized_output");
	}
	if (conversion === FULLY_ENCRYPTED) {
		return fail({ ...evidence, protection_suspended: true });
	}
	// BitLocker reports a drive as not encrypted if another product encrypts it.
	return otherEngine && conversion === 0
		? unknown("third_party_encryption", { engine: otherEngine })
		: fail(evidence);
}

function runningEngine(answer: Answer): string | undefined {
	const drivers = part(answer, "drivers");
	if (drivers.kind !== "values") return undefined;
	return drivers.values
		.map((driver) => ENGINES[text(driver.Name)?.toLowerCase() ?? ""])
		.find((engine) => engine !== undefined);
}

function named(field: string, names: string[], value: unknown) {
	const name = names[integer(value) ?? -1];
	return name === undefined ? {} : { [field]: name };
}

/** Returns the verdict about each fixed drive that has a letter. */
function dataVolumes(volumes: Answer[]) {
	const drives = volumes
		.filter((volume) => integer(volume.VolumeType) === DATA_VOLUME)
		.map((volume): [string, boolean] => [
			text(volume.DriveLetter) ?? "",
			integer(volume.ProtectionStatus) === LOCKED_OR_UNKNOWN ||
				(integer(volume.ProtectionStatus) === PROTECTED &&
					integer(volume.ConversionStatus) === FULLY_ENCRYPTED),
		])
		.filter(([letter]) => /^[A-Z]:$/i.test(letter));
	const plain = drives.filter(([, isEncrypted]) => !isEncrypted);
	return {
		data_volumes: drives.length,
		unprotected_data_volumes: plain.length,
		...Object.fromEntries(
			drives.map(([letter, isEncrypted]) => [
				`drive_${letter[0]?.toLowerCase()}_encrypted`,
				isEncrypted,
			]),
		),
	};
}
