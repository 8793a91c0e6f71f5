import { useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";

const KEY = "assay-invitation";
let kept: string | null = null;

/**
 * Keeps the secret of the invitation that this tab was opened with. It is removed from the address
 * and kept for the tab, so that it survives signing in and no address has to carry it.
 */
export function useInvitation(): string {
	const hash = useLocation({ select: (location) => location.hash });
	const navigate = useNavigate();
	const [token, setToken] = useState(() => hash || recall());
	useEffect(() => {
		if (hash === "") return;
		keep(hash);
		setToken(hash);
		void navigate({ to: "/invitation", hash: "", replace: true });
	}, [hash, navigate]);
	return token;
}

/** Forgets the secret once it was used. */
export function forgetInvitation(): void {
	kept = null;
	try {
		sessionStorage.removeItem(KEY);
	} catch {
		// Storage is blocked, so there is no secret in it.
	}
}

function keep(token: string): void {
	kept = token;
	try {
		sessionStorage.setItem(KEY, token);
	} catch {
		// Storage is blocked, so after a reload the link has to be opened again.
	}
}

function recall(): string {
	if (kept !== null) return kept;
	try {
		return sessionStorage.getItem(KEY) ?? "";
	} catch {
		return "";
	}
}
