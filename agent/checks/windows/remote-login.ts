import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { remoteControlAt } from "../remote-control-ports.ts";
import {
	productOfWindowsProcess,
	productsBy,
} from "../remote-control-products.ts";
import { judgeSshd, WINDOWS_SSHD } from "../sshd.ts";
import {
	type Answer,
	ask,
	integer,
	type Part,
	part,
	text,
	whyUnread,
} from "./powershell.ts";

/** The services of products for remote control. */
const SERVICES = productsBy("services");

const quoted = (names: Iterable<string>) =>
	[...names].map((name) => `'${name}'`).join(", ");

/**
 * Reads the settings from group policy first, because it takes precedence over the device's own
 * settings.
 */
export const REMOTE_LOGIN_SCRIPT = `
$terminal = Reg 'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Terminal Server'
$station = Reg 'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Terminal Server\\WinStations\\RDP-Tcp'
$policy = Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Terminal Services'
$winrm = Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WSMAN\\Service'
$winrmPolicy = Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\Microsoft\\Windows\\WinRM\\Service'
@{
  installation = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion').InstallationType
  deny = $terminal.fDenyTSConnections
  policyDeny = $policy.fDenyTSConnections
  nla = $station.UserAuthentication
  policyNla = $policy.UserAuthentication
  port = $station.PortNumber
  smartCard = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Policies\\System').ScForceOption
  basic = $winrm.auth_basic
  policyBasic = $winrmPolicy.AllowBasic
  plain = $winrm.allow_unencrypted
  policyPlain = $winrmPolicy.AllowUnencryptedTraffic
  domain = Read-Part { Get-CimInstance -ClassName Win32_ComputerSystem | Select-Object 'PartOfDomain' }
  joined = Read-Part { Get-ChildItem -LiteralPath 'Registry::HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\CloudDomainJoin\\JoinInfo' | ForEach-Object { @{ joined = $true } } }
  services = Read-Part { Get-Service -Name 'TermService', 'sshd', 'WinRM', ${quoted(SERVICES.keys())} -ErrorAction SilentlyContinue |
    ForEach-Object { @{ name = [string] $_.Name; running = ($_.Status -eq 'Running') } } }
  listeners = Read-Part { Get-ChildItem -LiteralPath 'Registry::HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WSMAN\\Listener' | ForEach-Object { @{ https = ($_.PSChildName -match '\\+HTTPS$') } } }
  processes = Read-Part { Get-Process -Name ${quoted(productsBy("windows").keys())} -ErrorAction SilentlyContinue | ForEach-Object { @{ name = [string] $_.ProcessName } } }
  ports = Read-Part { Get-NetTCPConnection -State Listen -ErrorAction SilentlyContinue | Where-Object { $_.LocalAddress -notmatch '^(127\\.|::1$)' } | ForEach-Object { @{ port = [int] $_.LocalPort } } }
}
`;

/**
 * Returns PASS if nobody can sign in from another machine with a guessed password. The check covers
 * Remote Desktop, PowerShell remoting (WinRM) and the SSH server. Administrators need the first two
 * to manage a server, or a client that belongs to a domain or to Entra ID (a managed client). These
 * devices pass with Remote Desktop if it requires network-level authentication. A server passes
 * with WinRM unless it accepts unencrypted passwords. A managed client passes with WinRM if it only
 * listens over HTTPS. Any other client fails with WinRM, and with Remote Desktop unless it requires
 * a smart card. A product for remote control fails if its service or process runs, or if its usual
 * port listens on an address other than the loopback.
 */
export async function remoteLogin(host: Host): Promise<CheckOutcome> {
	const asked = await ask(host, REMOTE_LOGIN_SCRIPT);
	if ("trouble" in asked) return asked.trouble;
	const { answer } = asked;
	const services = part(answer, "services");
	const deny = integer(answer.policyDeny) ?? integer(answer.deny);
	const installation = text(answer.installation);
	if (services.kind !== "values") return unknown(whyUnread(host, services));
	if (
		installation === undefined ||
		deny === undefined ||
		services.values.length === 0
	) {
		return unknown("unrecognized_output");
	}
	const isRunning = (name: string) =>
		services.values.some(
			(service) =>
				text(service.name)?.toLowerCase() === name && service.running === true,
		);
	const managed = isManaged(answer);
	const isClient = installation === "Client";
	const processes = part(answer, "processes");
	const ports = part(answer, "ports");
	const open = new Set([
		...[...SERVICES]
			.filter(([service]) => isRunning(service.toLowerCase()))
			.map(([, name]) => name),
		...productsOf(processes, ({ name }) =>
			productOfWindowsProcess(text(name) ?? ""),
		),
		...productsOf(ports, ({ port }) => remoteControlAt(integer(port) ?? 0)),
	]);
	const desktop = remoteDesktop(answer, deny === 0, isClient && !managed);
	const remoting = powershellRemoting(
		answer,
		isRunning("winrm") && hasListener(answer),
		isClient && !(managed && isHttpsOnly(answer)),
	);
	const evidence = {
		...desktop.evidence,
		...remoting.evidence,
		ssh_server: isRunning("sshd"),
		...(managed && { managed }),
		...(open.size > 0 && { open_services: [...open].sort() }),
	};
	if (open.size > 0) return fail(evidence);
	if (desktop.isExposed || remoting.isExposed) return fail(evidence);
	const outcome = isRunning("sshd")
		? await judgeSshd(host, evidence, WINDOWS_SSHD)
		: pass(evidence);
	const unread = [processes, ports].find(({ kind }) => kind !== "values");
	return unread && outcome.status === "PASS"
		? unknown(whyUnread(host, unread), evidence)
		: outcome;
}

/** Returns the products that the values of a part stand for. */
const productsOf = (
	found: Part,
	productOf: (value: Answer) => string | undefined,
): string[] =>
	found.kind === "values"
		? found.values.map(productOf).filter((name) => name !== undefined)
		: [];

function remoteDesktop(answer: Answer, isOn: boolean, isClient: boolean) {
	if (!isOn) return { isExposed: false, evidence: { remote_desktop: false } };
	const nla = (integer(answer.policyNla) ?? integer(answer.nla)) === 1;
	const smartCard = integer(answer.smartCard) === 1;
	const port = integer(answer.port);
	return {
		isExposed: !nla || (isClient && !smartCard),
		evidence: {
			remote_desktop: true,
			network_level_authentication: nla,
			smart_card_required: smartCard,
			...(port === undefined ? {} : { remote_desktop_port: port }),
		},
	};
}

function powershellRemoting(answer: Answer, isOn: boolean, isClient: boolean) {
	if (!isOn)
		return { isExposed: false, evidence: { powershell_remoting: false } };
	const basic = (integer(answer.policyBasic) ?? integer(answer.basic)) === 1;
	const plain = (integer(answer.policyPlain) ?? integer(answer.plain)) === 1;
	return {
		isExposed: isClient || (basic && plain),
		evidence: {
			powershell_remoting: true,
			basic_authentication: basic,
			unencrypted_allowed: plain,
		},
	};
}

/**
 * Returns true if WinRM has a listener. If the listeners cannot be read, the running service counts
 * as one.
 */
function hasListener(answer: Answer): boolean {
	const listeners = part(answer, "listeners");
	if (listeners.kind === "absent") return false;
	return listeners.kind !== "values" || listeners.values.length > 0;
}

/** Returns true if all listeners of WinRM use HTTPS. */
function isHttpsOnly(answer: Answer): boolean {
	const listeners = part(answer, "listeners");
	return (
		listeners.kind === "values" &&
		listeners.values.every((listener) => listener.https === true)
	);
}

/** Returns true if the device belongs to a domain or to Entra ID. */
function isManaged(answer: Answer): boolean {
	const domain = part(answer, "domain");
	const joined = part(answer, "joined");
	return (
		(domain.kind === "values" &&
			domain.values.some((computer) => computer.PartOfDomain === true)) ||
		(joined.kind === "values" && joined.values.length > 0)
	);
}
