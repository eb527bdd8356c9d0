// Draws figures.
#ifndef CAIRN_TOOLS_CAIRN_PLOT_RENDER_H_
#define CAIRN_TOOLS_CAIRN_PLOT_RENDER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/cairn/plot/figure.h"

namespace cairn::tool {

// The place where the values of a panel are drawn.
struct PanelBox {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};
std::vector<PanelBox> LayOut(size_t panels);

// Draws the mean of each series as a line, in a band from the least to the greatest value.
std::string RenderSvg(const Figure& figure);

// Makes a page with that figure, which a reader can zoom and move. It needs no other file.
std::string RenderHtml(const Figure& figure);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_PLOT_RENDER_H_
