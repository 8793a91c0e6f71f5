const PORTS: Record<number, string> = { 5938: "teamviewer", 21118: "rustdesk" };

/**
 * Returns our name for the product for remote control that usually listens on this TCP port. VNC
 * has a port for each display; databases and WinRM use ports from 5984. Port 4000 of NoMachine is
 * left out, because programs of developers often listen there.
 */
export const remoteControlAt = (port: number): string | undefined =>
	PORTS[port] ?? (port >= 5900 && port < 5960 ? "vnc" : undefined);
