interface Product {
	/** Our name for the product, which the evidence contains. */
	name: string;
	/** Its services on Windows. */
	services?: string[];
	/** Its processes on Windows, which also run without a service. A name may end in `*`. */
	windows?: string[];
	/** Its programs on a Mac, by the last part of their path. */
	mac?: string[];
	/** Its processes on Linux and FreeBSD. Linux cuts names off after 15 characters. */
	unix?: string[];
}

/**
 * Products through which somebody can control a device from elsewhere, by the part of each that
 * waits for connections while nobody sits at the device. The names are from the products'
 * documentation and from lists of programs that attackers bring along (LOLRMM). VNC has other rules
 * on Linux and FreeBSD, because its servers often take connections from the device itself only.
 */
const PRODUCTS: Product[] = [
	{
		name: "teamviewer",
		services: ["TeamViewer"],
		windows: ["TeamViewer*"],
		mac: [
			"TeamViewer",
			"TeamViewer_Service",
			"TeamViewer_Desktop",
			"TeamViewerHost",
		],
		unix: ["teamviewerd"],
	},
	{
		name: "anydesk",
		services: ["AnyDesk"],
		windows: ["AnyDesk*"],
		mac: ["AnyDesk"],
		unix: ["anydesk"],
	},
	{
		name: "rustdesk",
		services: ["RustDesk"],
		windows: ["rustdesk*"],
		mac: ["RustDesk"],
		unix: ["rustdesk"],
	},
	{
		name: "nomachine",
		services: ["nxservice"],
		windows: ["nxd", "nxserver"],
		mac: ["nxd", "nxserver.bin"],
		unix: ["nxd", "nxserver.bin"],
	},
	{
		name: "vnc",
		services: ["tvnserver", "uvnc_service", "vncserver", "winvnc4"],
		windows: ["tvnserver", "vncserver", "winvnc", "winvnc4"],
		mac: ["vncserver", "vncagent", "vncserverui", "OSXvnc-server", "x11vnc"],
	},
	{ name: "screenconnect", windows: ["ScreenConnect.ClientService"] },
	{
		name: "splashtop",
		services: ["SplashtopRemoteService"],
		windows: ["SRService"],
		mac: ["Splashtop Streamer", "SRStreamerDaemon"],
	},
	{ name: "logmein", services: ["LogMeIn"], windows: ["LogMeIn"] },
	{
		name: "chrome_remote_desktop",
		services: ["chromoting"],
		windows: ["remoting_host"],
		mac: ["remoting_me2me_host"],
		unix: ["chrome-remote-d"],
	},
	{
		name: "meshcentral",
		services: ["Mesh Agent"],
		windows: ["MeshAgent"],
		mac: ["meshagent"],
		unix: ["meshagent"],
	},
	{
		name: "dwservice",
		services: ["DWAgent"],
		windows: ["dwagsvc"],
		mac: ["dwagsvc"],
		unix: ["dwagsvc"],
	},
	{ name: "zoho_assist", windows: ["ZohoURSService"] },
	{ name: "radmin", services: ["RServer3"], windows: ["rserver3"] },
];

type Part = "services" | "windows" | "mac" | "unix";

/** Returns the product of each name that the products have in one of their lists. */
export const productsBy = (part: Part): Map<string, string> =>
	new Map(
		PRODUCTS.flatMap(({ name, [part]: names = [] }) =>
			names.map((each) => [each, name] as const),
		),
	);

/** Returns the product of a process on Windows, where upper and lower case make no difference. */
export function productOfWindowsProcess(process: string): string | undefined {
	const name = process.toLowerCase();
	for (const [pattern, product] of productsBy("windows")) {
		const known = pattern.toLowerCase();
		const isSame = known.endsWith("*")
			? name.startsWith(known.slice(0, -1))
			: name === known;
		if (isSame) return product;
	}
	return undefined;
}
