import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import {
	type Answer,
	ask,
	integer,
	type Part,
	part,
	text,
	whyUnread,
} from "./powershell.ts";

/**
 * Reads the numbers that BitLocker reports. The "device encryption" of the Home editions reports
 * the same ones, because it uses BitLocker. `images` are the partitions of disks that are files
 * (bus type 15), such as a Dev Drive in a VHDX, with the drive that the file lies on.
 */
export const DISK_ENCRYPTION_SCRIPT = `
@{
  systemDrive = [string] $env:SystemDrive
  volumes = Read-Part { Get-CimInstance -Namespace root/CIMV2/Security/MicrosoftVolumeEncryption -ClassName Win32_EncryptableVolume |
    Select-Object 'DriveLetter', 'VolumeType', 'ProtectionStatus', 'ConversionStatus', 'EncryptionMethod' }
  images = Read-Part { Get-CimInstance -Namespace root/Microsoft/Windows/Storage -ClassName MSFT_Disk -Filter 'BusType=15' | ForEach-Object {
    $file = ([string] $_.Location) -replace '^\\\\?\\', ''
    Get-CimInstance -Namespace root/Microsoft/Windows/Storage -ClassName MSFT_Partition -Filter "DiskNumber=$($_.Number)" |
      ForEach-Object { @{ letter = [string] $_.DriveLetter; on = $(if ($file -match '^[A-Za-z]:') { $file.Substring(0, 2) } else { '' }) } } } }
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
 * that a locked one counts as encrypted, and one in an image file is as encrypted as the drive that
 * holds the file. Removable drives do not count.
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
	const images = part(asked.answer, "images");
	const data = judgeDataVolumes(volumes.values, system, images);
	const evidence = {
		engine: "bitlocker",
		...named("encryption_method", METHODS, system.EncryptionMethod),
		...named("conversion", CONVERSION, system.ConversionStatus),
		...data.evidence,
	};
	if (protection === PROTECTED && conversion === FULLY_ENCRYPTED) {
		if (data.isEncrypted) return pass(evidence);
		if (otherEngine) {
			const engine = otherEngine;
			return unknown("third_party_encryption", { ...evidence, engine });
		}
		if (images.kind === "failed" || images.kind === "denied") {
			return unknown(whyUnread(host, images), evidence);
		}
		return data.isEncrypted === false
			? fail(evidence)
			: unknown("image_file_not_known", evidence);
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

/**
 * Judges each fixed drive that has a letter, except the system drive. `isEncrypted` is undefined if
 * none is plain, and one lies in an image file on a drive that BitLocker does not list.
 */
function judgeDataVolumes(volumes: Answer[], system: Answer, images: Part) {
	const own = new Map(
		volumes.map((volume) => [
			letterOf(volume.DriveLetter),
			isProtected(volume),
		]),
	);
	const holders = new Map(
		images.kind === "values"
			? images.values.map(({ letter, on }) => [letterOf(letter), letterOf(on)])
			: [],
	);
	const judge = (letter: string, depth = 0): boolean | undefined => {
		const holder = holders.get(letter);
		if (own.get(letter) || holder === undefined) return own.get(letter);
		return depth < MAX_IMAGES ? judge(holder, depth + 1) : undefined;
	};
	const letters = volumes
		.filter(
			(volume) =>
				volume !== system && integer(volume.VolumeType) === DATA_VOLUME,
		)
		.map((volume) => letterOf(volume.DriveLetter))
		.filter((letter) => letter !== "");
	const verdicts = letters.map((letter) => judge(letter));
	const inImages = letters.filter((letter) => holders.has(letter));
	return {
		isEncrypted: verdicts.includes(false)
			? false
			: verdicts.includes(undefined)
				? undefined
				: true,
		evidence: {
			data_volumes: letters.length,
			unprotected_data_volumes: verdicts.filter((each) => each === false)
				.length,
			...(inImages.length > 0 && { in_image_files: inImages.toSorted() }),
			...Object.fromEntries(
				letters.map((letter, index) => [
					`drive_${letter}_encrypted`,
					verdicts[index] ?? "unknown",
				]),
			),
		},
	};
}

/** Largest number of image files within image files that the agent follows, so that a loop ends. */
const MAX_IMAGES = 5;

const isProtected = ({ ProtectionStatus, ConversionStatus }: Answer) =>
	integer(ProtectionStatus) === LOCKED_OR_UNKNOWN ||
	(integer(ProtectionStatus) === PROTECTED &&
		integer(ConversionStatus) === FULLY_ENCRYPTED);

/** Returns the letter of a drive such as `D:` or `D` in lower case, or an empty text. */
const letterOf = (drive: unknown): string =>
	/^([A-Z]):?$/i.exec(text(drive) ?? "")?.[1]?.toLowerCase() ?? "";
