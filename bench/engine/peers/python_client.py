#!/usr/bin/python3
"""Reading a PDF with a model server as most people would write it in Python: PyMuPDF, Pillow, httpx, tenacity.

  python_client.py PDF PARALLEL [--pages K] [--url http://host:port/v1]

Each page is drawn at zoom 3, shrunk to at most 1024 pixels (multiples of 32, Lanczos), saved as JPEG of quality 90 and posted, with PARALLEL
pages under way at a time. Prints {"pages", "wall", "chars"}.
"""
import argparse
import asyncio
import base64
import io
import json
import threading
import time

import fitz
import httpx
import tenacity
from PIL import Image

PROMPT = "Transcribe this page to Markdown."


class Pages:
    """PyMuPDF documents must not be used by two threads at once."""

    def __init__(self, path: str):
        self.document, self.lock = fitz.open(path), threading.Lock()

    def picture(self, index: int) -> Image.Image:
        with self.lock:
            drawn = self.document[index].get_pixmap(matrix=fitz.Matrix(3, 3))
            return Image.frombytes("RGB", (drawn.width, drawn.height), drawn.samples)

    def data_uri(self, index: int) -> str:
        picture = self.picture(index)
        scale = min(1, 1024 / max(picture.size))
        size = tuple(max(32, round(side * scale / 32) * 32) for side in picture.size)
        jpeg = io.BytesIO()
        picture.resize(size, Image.LANCZOS).save(jpeg, "JPEG", quality=90)
        return "data:image/jpeg;base64," + base64.b64encode(jpeg.getvalue()).decode()


@tenacity.retry(stop=tenacity.stop_after_attempt(5), wait=tenacity.wait_random_exponential(0.5, 10),
                retry=tenacity.retry_if_exception_type(httpx.HTTPError), reraise=True)
async def ask(client: httpx.AsyncClient, url: str, image: str) -> str:
    content = [{"type": "image_url", "image_url": {"url": image}}, {"type": "text", "text": PROMPT}]
    reply = await client.post(f"{url}/chat/completions", json={"model": "sim-vl", "max_tokens": 4096, "temperature": 0,
                                                               "messages": [{"role": "user", "content": content}]})
    reply.raise_for_status()
    return reply.json()["choices"][0]["message"]["content"]


async def read(options) -> list[str]:
    pages, places = Pages(options.pdf), asyncio.Semaphore(options.parallel)
    limits = httpx.Limits(max_connections=options.parallel, max_keepalive_connections=options.parallel)
    async with httpx.AsyncClient(timeout=600, limits=limits) as client:
        async def one(index: int) -> str:
            async with places:
                return await ask(client, options.url, await asyncio.to_thread(pages.data_uri, index))
        count = min(options.pages or pages.document.page_count, pages.document.page_count)
        return await asyncio.gather(*map(one, range(count)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pdf")
    parser.add_argument("parallel", type=int)
    parser.add_argument("--pages", type=int)
    parser.add_argument("--url", required=True)
    options = parser.parse_args()
    started = time.monotonic()
    texts = asyncio.run(read(options))
    print(json.dumps({"pages": len(texts), "wall": time.monotonic() - started, "chars": sum(map(len, texts))}))


if __name__ == "__main__":
    main()
