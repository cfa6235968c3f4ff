#!/usr/bin/python3
"""python_requests.py COUNT PARALLEL URL: what bench-requests does, with httpx. Prints {"requests", "wall_s"}."""
import asyncio
import base64
import json
import sys
import time

import httpx


async def main(url: str, count: int, parallel: int) -> None:
    image = "data:image/jpeg;base64," + base64.b64encode(b"\xab" * 600).decode()
    left = count
    limits = httpx.Limits(max_connections=parallel, max_keepalive_connections=parallel)
    async with httpx.AsyncClient(timeout=600, limits=limits) as client:
        async def work() -> None:
            nonlocal left
            while left > 0:
                left -= 1
                content = [{"type": "image_url", "image_url": {"url": image}}, {"type": "text", "text": "Transcribe this page to Markdown."}]
                reply = await client.post(f"{url}/v1/chat/completions", json={
                    "model": "sim-vl", "max_tokens": 4096, "temperature": 0, "messages": [{"role": "user", "content": content}]})
                reply.raise_for_status()
                reply.json()["choices"][0]["message"]["content"]
        started = time.monotonic()
        await asyncio.gather(*(work() for _ in range(parallel)))
    print(json.dumps({"requests": count, "wall_s": time.monotonic() - started}))

asyncio.run(main(sys.argv[3], int(sys.argv[1]), int(sys.argv[2])))
