import { useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";

const KEY = "assay-invitation";
let kept: string | null = null;

/**
 * The secret of the invitation that this tab was opened with. It leaves the address and is
 * kept for the tab, so that it is still there after signing in and no address that leads
 * back here has to carry it.
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

/** It was used. */
export function forgetInvitation(): void {
	kept = null;
	try {
		sessionStorage.removeItem(KEY);
	} catch {
		// Storage is refused; then there is nothing in it.
	}
}

function keep(token: string): void {
	kept = token;
	try {
		sessionStorage.setItem(KEY, token);
	} catch {
		// Storage is refused: a reload asks to open the link again.
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
